import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import type { FileClient, ModuleNames, SyncChanges, SyncReport, SyncRequest } from '../../author/files.ts'
import { SaltError } from '../../base/errors.ts'
import { isBelow } from '../../base/open-inside.ts'
import { probeFiles } from '../../loader/index.ts'
import { nameOf } from './names.ts'
import { type Placed, placeFiles } from './place.ts'
import { type Role, type SyncType, syncType, syncTypesOf } from './types.ts'
import { listSources, namesIn, wantedIn } from './wanted.ts'

export interface SyncSettings {
  readonly files: FileClient
  readonly config: Readonly<Record<string, unknown>>
  readonly grains?: Readonly<Record<string, unknown>>
  readonly log: Log
  readonly role: Role
  /** Do not import what came, to see whether that works. */
  readonly unseen?: boolean
  /** How long a file may take to load, milliseconds. */
  readonly loadMs?: number
}

/**
 * Bring extensions from `salt://_<folder>` into `extension_modules/<folder>`, and see whether what is there can be
 * loaded. Rejects, and removes nothing, where the file server cannot list its files. A file it lists and does not give
 * has failed, and the others come all the same.
 */
export async function syncExtensions(request: SyncRequest, settings: SyncSettings): Promise<SyncReport> {
  const { config, role, log } = settings
  const files = whileAnswered(settings.files)
  const types = request.types?.map(syncType) ?? syncTypesOf(role)
  const environments = namesIn(request.saltenv || String(config.saltenv || 'base'))
  const sources = await listSources(files, environments)
  const lists = {
    whitelist: request.whitelist ?? ((config.extmod_whitelist ?? {}) as ModuleNames),
    blacklist: request.blacklist ?? ((config.extmod_blacklist ?? {}) as ModuleNames),
  }
  const all: [SyncType, Placed[]][] = []
  for (const type of types) {
    const placed: Placed[] = []
    for (const folder of type.folders) {
      const wanted = wantedIn(folder, type, sources, lists)
      const clean = config.clean_dynamic_modules !== false
      placed.push(await placeFiles(wanted, placeOf(folder, config), { files, clean }))
    }
    all.push([type, placed])
  }
  const report = await reportOn(all, settings)
  tell(report, log)
  return report
}

/** Whether anything is to be loaded anew. */
export const hasChanged = ({ added, changed, removed }: SyncChanges): boolean =>
  added.length + changed.length + removed.length > 0

/** A file server that has once not answered is not waited for again with each file of this sync. */
function whileAnswered(files: FileClient): FileClient {
  let away: unknown
  const cache: FileClient['cache'] = (...wanted) =>
    away
      ? Promise.reject(away)
      : files.cache(...wanted).catch((error: unknown) => {
          if (SaltError.is(error) && error.data.unanswered === true) away = error
          throw error
        })
  return { ...files, cache }
}

type Reasons = Readonly<Record<string, string>>

function described(
  changes: Pick<SyncChanges, 'added' | 'changed' | 'removed'>,
  unplaced: Reasons,
  broken: Reasons,
): SyncChanges {
  const { added, changed, removed } = changes
  const lines = [
    ...[...added, ...changed].sort(),
    ...removed.map((name) => `${name} (removed)`),
    ...Object.entries(unplaced).map(([name, reason]) => `${name} (kept as it was: ${reason})`),
    ...Object.entries(broken).map(([name, reason]) => `${name} (failed to load: ${reason})`),
  ]
  return { ...changes, failed: { ...unplaced, ...broken }, lines }
}

function changesIn(
  { name: type }: SyncType,
  placed: readonly Placed[],
): Pick<SyncChanges, 'added' | 'changed' | 'removed'> {
  const named = (of: (one: Placed) => ReadonlySet<string>) =>
    new Set(placed.flatMap((one) => [...of(one)].map((path) => `${type}.${nameOf(path)}`)))
  const before = named((one) => one.before)
  const after = named((one) => one.after)
  const touched = [...named((one) => one.touched)].sort()
  return {
    added: touched.filter((name) => after.has(name) && !before.has(name)),
    changed: touched.filter((name) => after.has(name) && before.has(name)),
    removed: touched.filter((name) => !after.has(name)),
  }
}

/** What can be loaded is known only when all is in place: modules of one type may import those of another. */
async function reportOn(
  all: readonly (readonly [SyncType, readonly Placed[]])[],
  settings: SyncSettings,
): Promise<SyncReport> {
  const report: Record<string, SyncChanges> = {}
  for (const [type, placed] of all) {
    const unplaced = unplacedIn(type, placed)
    const broken = settings.unseen ? {} : await failuresOf(type, placed, settings)
    for (const [name, reason] of Object.entries({ ...unplaced, ...broken }))
      settings.log.error(`The sync of ${name} failed: ${reason}`)
    report[type.name] = described(changesIn(type, placed), unplaced, broken)
  }
  return report
}

const unplacedIn = (type: SyncType, placed: readonly Placed[]): Reasons =>
  Object.fromEntries(
    placed.flatMap(({ failed }) =>
      Array.from(failed, ([path, reason]) => [`${type.name}.${nameOf(path)}`, reason]),
    ),
  )

/** Also of modules that were broken before: they are until somebody repairs them. */
async function failuresOf(
  type: SyncType,
  placed: readonly Placed[],
  { config, grains, log, loadMs }: SyncSettings,
): Promise<Reasons> {
  if (!type.kind || placed.every(({ after }) => after.size === 0)) return {}
  const places = type.folders.map((folder) => placeOf(folder, config))
  const given = { config, log, ...(grains && { grains }), ...(loadMs && { timeoutMs: loadMs }) }
  const { broken } = await probeFiles(type.kind, places, given)
  const named = Array.from(broken, ([path, reason]) => {
    const place = places.find((folder) => isBelow(path, folder)) as string
    return [`${type.name}.${nameOf(path.slice(place.length + 1))}`, reason]
  })
  return Object.fromEntries(named)
}

const placeOf = (folder: string, config: SyncSettings['config']): string =>
  join(String(config.extension_modules), folder)

function tell(report: SyncReport, log: Log): void {
  for (const { added, changed, removed } of Object.values(report)) {
    const parts = Object.entries({ added, changed, removed }).filter(([, names]) => names.length > 0)
    if (parts.length)
      log.info(`Synced: ${parts.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')}`)
  }
}
