import { SaltError } from '../../base/errors.ts'
import { type KindName, kinds } from '../../loader/kinds.ts'

/** One kind of extension as `saltutil.sync_*` knows it. */
export interface SyncType {
  /** Salt's name: `modules`, `output`. */
  readonly name: string
  /** In `extension_modules`; on the file server with `_` before. */
  readonly folders: readonly string[]
  /** What loads it; nothing here does so with some of Salt's types, and their files are only brought. */
  readonly kind?: KindName
}

export type Role = 'minion' | 'master'

/** Types of Salt that are no kind of extension here. */
const further: readonly SyncType[] = [
  ...(
    'beacons cache clouds job_caches log_handlers pillar queues renderers roster sdb serializers states thorium ' +
    'tokens tops'
  )
    .split(' ')
    .map((name) => ({ name, folders: [name] })),
  { name: 'proxymodules', folders: ['proxy'] },
]

/** What only one of the two uses; everything else concerns both. */
const onlyOf: Readonly<Record<Role, ReadonlySet<string>>> = {
  minion: new Set(['beacons', 'log_handlers']),
  master: new Set(
    'auth cache fileserver job_caches pillar queues roster runners tokens tops wheel'.split(' '),
  ),
}

const types: readonly SyncType[] = [
  ...Array.from(kinds.values(), ({ name, folders }) => ({
    name: folders.at(-1) as string,
    folders,
    kind: name,
  })),
  ...further,
]

/** Every type that concerns a daemon, by name. */
export function syncTypesOf(role: Role): readonly SyncType[] {
  const others = onlyOf[role === 'minion' ? 'master' : 'minion']
  return types.filter(({ name }) => !others.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** By any of its names: `output`, `outputters`. @throws SaltError INVOCATION */
export function syncType(name: string): SyncType {
  const found = types.find((type) => type.name === name || type.kind === name || type.folders.includes(name))
  if (found) return found
  const known = types.map((type) => type.name).sort()
  throw new SaltError(
    'INVOCATION',
    `There is no type of extension '${name}' to sync. Known are: ${known.join(', ')}.`,
  )
}
