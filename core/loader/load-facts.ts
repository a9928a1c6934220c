import type { Context } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { createContext } from './context.ts'
import { frozen } from './frozen.ts'
import type { Loader, LoaderSettings } from './loader.ts'
import type { Facts } from './virtual.ts'

/** The loader as files see it that it is loading. */
export type Asked = Pick<Loader, 'get' | 'why' | 'hint' | 'view'>

/** What `virtual` and `init` are told, and the functions they may call; grains and pillar as they are when it is asked. */
export function loadFacts(
  settings: Pick<LoaderSettings, 'config' | 'grains' | 'pillar' | 'log' | 'timeoutMs'>,
  loader: Asked,
): Omit<Facts, 'has'> {
  const context = new Map<string, unknown>()
  return {
    get grains() {
      return frozen(settings.grains ?? {})
    },
    get pillar() {
      return frozen(settings.pillar ?? {})
    },
    opts: frozen(settings.config),
    context,
    call: (...given) => callingContext(settings, context, loader).call(...given),
  }
}

/** What a function gets that is called while a file is loaded: there is no job, and no minion to ask. */
function callingContext(
  { config, grains = {}, pillar = {}, log, timeoutMs = 10_000 }: Parameters<typeof loadFacts>[0],
  context: Map<string, unknown>,
  loader: Asked,
): Context {
  const unavailable = (what: string) =>
    new SaltError('INVOCATION', `context.${what} is not there for what is called while a module is loaded.`)
  const base = {
    ...{ opts: config, id: String(config.id ?? ''), grains, pillar, context, log, retcode: 0 },
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
