import type { Context } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { createContext } from '../calls/context.ts'
import { frozenCopy } from '../frozen.ts'
import type { Loader, LoaderSettings } from '../loader.ts'
import type { FileLoadFacts } from './virtual.ts'

/** The parts of a loader that are available to files it is loading. */
export type LoaderQueries = Pick<Loader, 'get' | 'why' | 'hint' | 'view'>

/** Make the facts for `virtual` and `init`. Grains and pillar are read when they are used. */
export function loadFacts(
  settings: Pick<LoaderSettings, 'config' | 'grains' | 'pillar' | 'log'>,
  timeoutMs: number,
  loader: LoaderQueries,
): Omit<FileLoadFacts, 'has'> {
  const context = new Map<string, unknown>()
  return {
    get grains() {
      return frozenCopy(settings.grains ?? {})
    },
    get pillar() {
      return frozenCopy(settings.pillar ?? {})
    },
    opts: frozenCopy(settings.config),
    context,
    call: (...given) => callingContext({ ...settings, timeoutMs }, context, loader).call(...given),
  }
}

/** Make the context of functions that are called while a file is loaded: without a job and without services. */
function callingContext(
  {
    config,
    grains = {},
    pillar = {},
    log,
    timeoutMs,
  }: Parameters<typeof loadFacts>[0] & { readonly timeoutMs: number },
  context: Map<string, unknown>,
  loader: LoaderQueries,
): Context {
  const unavailable = (what: string) =>
    new SaltError(
      'INVOCATION',
      `context.${what} is not available to functions that are called while a module is loaded.`,
    )
  const base = {
    opts: config,
    id: String(config.id ?? ''),
    grains,
    pillar,
    context,
    log,
    retcode: 0,
    signal: AbortSignal.timeout(timeoutMs),
    match: () => Promise.reject(unavailable('match')),
    get minion(): Context['minion'] {
      throw unavailable('minion')
    },
    get master(): Context['master'] {
      throw unavailable('master')
    },
  }
  return createContext(base, loader)
}
