import { fork } from 'node:child_process'
import { dirname } from 'node:path'
import type { Log } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { howItEnded, LastWords } from '../base/last-words.ts'
import { processEntry } from '../base/process-entry.ts'
import { indexFiles } from './index-files.ts'
import { type Kind, type KindName, kinds } from './kinds.ts'
import { fileKey, type LoadingFile, LoadWatch } from './load-watch.ts'
import { LOAD_MS, type Loader, type LoaderSettings, openLoader } from './loader.ts'

type ProbeSettings = Pick<LoaderSettings, 'config' | 'grains' | 'log' | 'timeoutMs'>

/** To the process that tries: files of these folders are to be loaded, but for those known to block it. */
export interface ProbeRequest {
  readonly kind: KindName
  readonly folders: readonly string[]
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  readonly blocked: ReadonlyMap<string, string>
}

export type FromProbe = LoadingFile | { readonly type: 'done'; readonly broken: ReadonlyMap<string, string> }

export interface Probed {
  /** Path → reason, of those that cannot be loaded. */
  readonly broken: ReadonlyMap<string, string>
  /** {@link fileKey} → reason, of those that would hold up, or end, the process that loads them. */
  readonly blocked: ReadonlyMap<string, string>
}

/** How one try ends: all is known, one file is to blame, or nobody knows why. */
type End =
  | { readonly broken: ReadonlyMap<string, string> }
  | { readonly key: string; readonly reason: string }
  | { readonly unknown: string }

const entry = processEntry(import.meta.url, 'probe-process')

/** A loader for a process that must go on: a user's file that would hold it up, or end it, is refused. */
export async function openGuardedLoader(kind: KindName, settings: LoaderSettings): Promise<Loader> {
  const { files } = await indexFiles(kinds.get(kind) as Kind, settings.config)
  const users = files.filter(({ builtIn, excluded }) => !builtIn && excluded === undefined)
  if (users.length === 0) return openLoader(kind, settings)
  const folders = [...new Set(users.map(({ path }) => dirname(path)))]
  const { blocked } = await probeFiles(kind, folders, settings)
  return openLoader(kind, { ...settings, blocked: (file) => blocked.get(fileKey(file)) })
}

/** Load the files of some folders in a process of their own. One that blocks or ends it costs it, and is not tried again. */
export async function probeFiles(
  kind: KindName,
  folders: readonly string[],
  { config, grains = {}, log, timeoutMs = LOAD_MS }: ProbeSettings,
): Promise<Probed> {
  const blocked = new Map<string, string>()
  for (;;) {
    const end = await attempt({ kind, folders, config: { ...config }, grains, timeoutMs, blocked }, log)
    if ('broken' in end) return { broken: end.broken, blocked }
    if ('unknown' in end) {
      log.error(
        `Whether the ${kind} in ${folders.join(', ')} can be loaded was not found out: ${end.unknown}`,
      )
      return { broken: new Map(), blocked }
    }
    blocked.set(end.key, end.reason)
  }
}

function attempt(request: ProbeRequest, log: Log): Promise<End> {
  const end = deferred<End>()
  const loads = new LoadWatch(request.timeoutMs, (key, reason) => end.resolve({ key, reason }))
  const child = fork(entry, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  child.on('message', (message: FromProbe) => {
    if (message.type === 'done') end.resolve(message)
    else loads.heard(message)
  })
  child.once('error', (error) => end.resolve({ unknown: error.message }))
  const native = (text: string) => log.debug('The process that tried files ended with: {text}', { text })
  const lastWords = new LastWords(child.stderr, { native })
  child.once('exit', async (code, signal) => {
    const how = howItEnded(code, signal, await lastWords.reason())
    const { last } = loads
    if (!last) return end.resolve({ unknown: `the process that tried it ${how}` })
    end.resolve({ key: last.key, reason: `${last.path}: its process ${how} while it was loaded` })
  })
  child.send(request, () => {}) // a process that is gone is reported by its exit
  return end.promise.finally(() => {
    loads.close()
    child.kill('SIGKILL')
  })
}
