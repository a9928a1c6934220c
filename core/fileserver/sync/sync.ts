import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import type { FileClient, ModuleNames, SyncChanges, SyncReport, SyncRequest } from '../../author/files.ts'
import { SaltError } from '../../base/errors.ts'
import { isBelow } from '../../base/files/open-inside.ts'
import { openLoader, probeFiles, warningsIn } from '../../loader/index.ts'
import { extensionNameOf } from './names.ts'
import { type Placed, placeFiles } from './place.ts'
import { reportPython } from './python.ts'
import { type Role, type SyncType, syncType, syncTypesOf } from './types.ts'
import { listSources, namesIn, wantedIn } from './wanted.ts'

export interface SyncSettings {
  readonly files: FileClient
  readonly config: Readonly<Record<string, unknown>>
  readonly grains?: Readonly<Record<string, unknown>>
  readonly log: Log
  readonly role: Role
  /** Do not import synced files to check that they load. */
  readonly skipImport?: boolean
  /** Time that a file may take to load, milliseconds. */
  readonly loadMs?: number
}

/**
 * Copy extensions from `salt://_<folder>` into `extension_modules/<folder>`, and check that they load. Rejects, without removing
 * files, if the file server cannot list its files. A listed file that it does not serve is reported as failed; the others are still
 * copied.
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
  const python = await reportPython(types, sources, config)
  const report = withPython(await reportOn(all, settings), python)
  logReport(report, log)
  for (const sentence of python.values()) log.warn(sentence)
  return report
}

const withPython = (report: SyncReport, python: ReadonlyMap<string, string>): SyncReport =>
  Object.fromEntries(
    Object.entries(report).map(([type, changes]) => {
      const sentence = python.get(type)
      return [type, sentence === undefined ? changes : { ...changes, lines: [...changes.lines, sentence] }]
    }),
  )

type Changes = Pick<SyncChanges, 'added' | 'changed' | 'removed'>

/** Whether files changed, so that they must be loaded again. */
export const hasChanged = ({ added, changed, removed }: Changes): boolean =>
  added.length + changed.length + removed.length > 0

/** Fail all further files of a sync at once after the file server has not answered once. */
function whileAnswered(files: FileClient): FileClient {
  let failure: unknown
  const cache: FileClient['cache'] = (...wanted) =>
    failure
      ? Promise.reject(failure)
      : files.cache(...wanted).catch((error: unknown) => {
          if (SaltError.is(error) && error.data.unanswered === true) failure = error
          throw error
        })
  return { ...files, cache }
}

type Reasons = Readonly<Record<string, string>>

function described(changes: Changes, unplaced: Reasons, broken: Reasons, overrides: Reasons): SyncChanges {
  const { added, changed, removed } = changes
  const lines = [
    ...[...added, ...changed].sort().map((name) => withNote(name, overrides[name])),
    ...removed.map((name) => `${name} (removed)`),
    ...Object.entries(unplaced).map(([name, reason]) => `${name} (kept unchanged: ${reason})`),
    ...Object.entries(broken).map(([name, reason]) => `${name} (failed to load: ${reason})`),
  ]
  return { ...changes, failed: { ...unplaced, ...broken }, lines }
}

const withNote = (name: string, note: string | undefined): string =>
  note === undefined ? name : `${name} (${note})`

function changesIn({ name: type }: SyncType, placed: readonly Placed[]): Changes {
  const named = (of: (one: Placed) => ReadonlySet<string>) =>
    new Set(placed.flatMap((one) => [...of(one)].map((path) => `${type}.${extensionNameOf(path)}`)))
  const before = named((one) => one.before)
  const after = named((one) => one.after)
  const touched = [...named((one) => one.touched)].sort()
  return {
    added: touched.filter((name) => after.has(name) && !before.has(name)),
    changed: touched.filter((name) => after.has(name) && before.has(name)),
    removed: touched.filter((name) => !after.has(name)),
  }
}

/** Make the report after all types are copied, since modules of one type may import those of another. */
async function reportOn(
  all: readonly (readonly [SyncType, readonly Placed[]])[],
  settings: SyncSettings,
): Promise<SyncReport> {
  const report: Record<string, SyncChanges> = {}
  for (const [type, placed] of all) {
    const unplaced = unplacedIn(type, placed)
    const { broken, warnings } = settings.skipImport ? untried : await tried(type, placed, settings)
    for (const [name, reason] of Object.entries({ ...unplaced, ...broken }))
      settings.log.error(`The sync of ${name} failed: ${reason}`)
    const changes = changesIn(type, placed)
    const overrides = hasChanged(changes) ? await overridesOf(type, settings) : {}
    const replacing: string[] = []
    for (const name of [...changes.added, ...changes.changed]) {
      const sentence = overrides[name]
      if (sentence === undefined) continue
      settings.log.warn(`Synced ${name}: ${sentence}`)
      replacing.push(sentence)
    }
    for (const warning of warnings) settings.log.warn(`Synced ${type.name}: ${warning}`)
    report[type.name] = {
      ...described(changes, unplaced, broken, overrides),
      ...(replacing.length + warnings.length > 0 && { warnings: [...replacing, ...warnings] }),
    }
  }
  return report
}

const unplacedIn = (type: SyncType, placed: readonly Placed[]): Reasons =>
  Object.fromEntries(
    placed.flatMap(({ failed }) =>
      Array.from(failed, ([path, reason]) => [`${type.name}.${extensionNameOf(path)}`, reason]),
    ),
  )

/** What became of the files of a type when they were loaded. */
interface Tried {
  /** The modules that fail to load, including those that were broken before this sync. */
  readonly broken: Reasons
  /** Lists mistakes in the files that this sync has changed, except those in `broken`. */
  readonly warnings: readonly string[]
}

const untried: Tried = { broken: {}, warnings: [] }

async function tried(
  type: SyncType,
  placed: readonly Placed[],
  { config, grains, log, loadMs }: SyncSettings,
): Promise<Tried> {
  if (!type.kind || placed.every(({ after }) => after.size === 0)) return untried
  const places = type.folders.map((folder) => placeOf(folder, config))
  const checked = placed.flatMap(({ touched }, index) =>
    [...touched].map((name) => join(places[index] as string, name)),
  )
  const given = { config, log, checked, ...(grains && { grains }), ...(loadMs && { timeoutMs: loadMs }) }
  const { broken, findings } = await probeFiles(type.kind, places, given)
  const others = findings.filter(({ rule, file }) => rule !== 'hides-built-in' && !broken.has(file))
  return { broken: namedIn(type, places, broken), warnings: warningsIn(others) }
}

/** Return the warnings about files that override built-in ones. */
async function overridesOf(type: SyncType, { config, log }: SyncSettings): Promise<Reasons> {
  if (!type.kind) return {}
  const places = type.folders.map((folder) => placeOf(folder, config))
  const overrides = await openLoader(type.kind, { config, log }).overrides()
  return namedIn(
    type,
    places,
    overrides.map(({ path, sentence }) => [path, sentence]),
  )
}

/** Index sentences by the name of their file for users. Files outside of `places` are left out. */
function namedIn(
  type: SyncType,
  places: readonly string[],
  sentences: Iterable<readonly [path: string, sentence: string]>,
): Reasons {
  const named = Array.from(sentences, ([path, sentence]) => {
    const place = places.find((folder) => isBelow(path, folder))
    return place === undefined
      ? []
      : [[`${type.name}.${extensionNameOf(path.slice(place.length + 1))}`, sentence]]
  })
  return Object.fromEntries(named.flat())
}

const placeOf = (folder: string, config: SyncSettings['config']): string =>
  join(String(config.extension_modules), folder)

function logReport(report: SyncReport, log: Log): void {
  for (const { added, changed, removed } of Object.values(report)) {
    const parts = Object.entries({ added, changed, removed }).filter(([, names]) => names.length > 0)
    if (parts.length)
      log.info(`Synced: ${parts.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')}`)
  }
}
