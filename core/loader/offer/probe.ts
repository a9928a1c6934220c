import { dirname } from 'node:path'
import type { Log } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import { Child } from '../../process/child.ts'
import { processEntry } from '../../process/process-entry.ts'
import type { Finding } from '../check/rules.ts'
import { indexFiles } from '../files/index-files.ts'
import { fileKey, type LoadingFile, LoadWatch } from '../files/load-watch.ts'
import { type Kind, type KindName, kinds } from '../kinds.ts'
import { LOAD_MS, type Loader, type LoaderSettings, openLoader } from '../loader.ts'

interface ProbeSettings extends Pick<LoaderSettings, 'config' | 'grains' | 'log' | 'timeoutMs'> {
  /** Files that are checked, too. */
  readonly checked?: readonly string[]
}

/**
 * Request to the child process: load these files, and those of directories, except those that are known to block it; then check some
 * of them.
 */
export interface ProbeRequest {
  readonly type: 'probe'
  readonly kind: KindName
  readonly places: readonly string[]
  readonly checked: readonly string[]
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  readonly blocked: ReadonlyMap<string, string>
}

/** What became of the files that do not block the process. */
interface Tried {
  /** Path → reason, for files that cannot be loaded. */
  readonly broken: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

export type FromProbe = LoadingFile | ({ readonly type: 'done' } & Tried)

export interface Probed extends Tried {
  /** {@link fileKey} → reason, for files that block or end the process that loads them. */
  readonly blocked: ReadonlyMap<string, string>
}

/** The end of one attempt: all files were tried, one file blocked or ended the process, or the cause is unknown. */
type End = Tried | { readonly key: string; readonly reason: string } | { readonly unknown: string }

const entry = processEntry('loader/offer/probe-process')

/** Open a loader for a process that must keep running: it refuses users' files that would block or end it. */
export async function openGuardedLoader(kind: KindName, settings: LoaderSettings): Promise<Loader> {
  const { files } = await indexFiles(kinds.get(kind) as Kind, settings.config)
  const users = files.filter(({ builtIn, excluded }) => !builtIn && excluded === undefined)
  if (users.length === 0) return openLoader(kind, settings)
  const folders = [...new Set(users.map(({ path }) => dirname(path)))]
  const { blocked } = await probeFiles(kind, folders, settings)
  return openLoader(kind, { ...settings, blocked: (file) => blocked.get(fileKey(file)) })
}

/**
 * Load some files, or those of directories, in a child process. After a file that blocks or ends it, a new one continues
 * without that file.
 */
export async function probeFiles(
  kind: KindName,
  places: readonly string[],
  { config, grains = {}, log, timeoutMs = LOAD_MS, checked = [] }: ProbeSettings,
): Promise<Probed> {
  const blocked = new Map<string, string>()
  for (;;) {
    const end = await attempt(
      { type: 'probe', kind, places, checked, config: { ...config }, grains, timeoutMs, blocked },
      log,
    )
    if ('broken' in end) return { broken: end.broken, findings: end.findings, blocked }
    if ('unknown' in end) {
      log.error(`Cannot check whether the ${kind} in ${places.join(', ')} can be loaded: ${end.unknown}`)
      return { broken: new Map(), findings: [], blocked }
    }
    blocked.set(end.key, end.reason)
  }
}

function attempt(request: ProbeRequest, log: Log): Promise<End> {
  const end = deferred<End>()
  const loads = new LoadWatch(request.timeoutMs, (key, reason) => end.resolve({ key, reason }))
  const onEnd = async () => {
    const how = await child.howItEnded()
    const { last } = loads
    if (!last) return end.resolve({ unknown: `the process that checks them ${how}` })
    end.resolve({ key: last.key, reason: `${last.path}: its process ${how} while it was loaded` })
  }
  const child = new Child<ProbeRequest, FromProbe>({
    entry,
    stdout: 'ignore',
    stderr: 'filter',
    onNative: (text) => log.debug('The process that checks files ended with: {text}', { text }),
    onMessage: (message) => (message.type === 'done' ? end.resolve(message) : loads.heard(message)),
    onEnd,
  })
  child.send(request)
  return end.promise.finally(() => {
    loads.close()
    child.kill('SIGKILL')
  })
}
