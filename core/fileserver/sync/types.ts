import { SaltError } from '../../base/errors.ts'
import { type KindName, kinds } from '../../loader/kinds.ts'

/** One type of extension of `saltutil.sync_*`. */
export interface SyncType {
  /** Salt's name: `modules`, `output`. */
  readonly name: string
  /** Directories in `extension_modules`; on the file server they have the prefix `_`. */
  readonly folders: readonly string[]
  /** The kind that loads it; undefined for Salt's types that are not loaded, whose files are only copied. */
  readonly kind?: KindName
}

export type Role = 'minion' | 'master'

/** Types of Salt that are not loaded by salt-ts. */
const further: readonly SyncType[] = [
  ...(
    'beacons cache clouds job_caches log_handlers pillar queues renderers roster sdb serializers states thorium ' +
    'tokens tops'
  )
    .split(' ')
    .map((name) => ({ name, folders: [name] })),
  { name: 'proxymodules', folders: ['proxy'] },
]

/** Types that only one of the daemons uses. All others are for both. */
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

/** Return the types that a daemon uses, sorted by name. */
export function syncTypesOf(role: Role): readonly SyncType[] {
  const others = onlyOf[role === 'minion' ? 'master' : 'minion']
  return types.filter(({ name }) => !others.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Find a type by any of its names: `output`, `outputters`. @throws SaltError INVOCATION */
export function syncType(name: string): SyncType {
  const found = types.find((type) => type.name === name || type.kind === name || type.folders.includes(name))
  if (found) return found
  const known = types.map((type) => type.name).sort()
  throw new SaltError(
    'INVOCATION',
    `There is no type of extension '${name}' to sync. Known types: ${known.join(', ')}.`,
  )
}
