import { untyped } from '../../author/calls.ts'
import type { Log, MasterServices, MinionServices } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { collectGrains, createContext, openLoader } from '../../loader/index.ts'
import { openMatch } from '../../targets/open-match.ts'

/** Run execution functions on the master's host, with its grains; what only a minion can do is refused. */
export function openCalls(config: MasterConfig, log: Log, signal: AbortSignal): MasterServices['call'] {
  let opened: ReturnType<typeof open> | undefined
  return async (fun, args = [], kwargs = {}) => {
    opened ??= open(config, log, signal)
    return (await opened).call(untyped(fun), args, kwargs)
  }
}

async function open(config: MasterConfig, log: Log, signal: AbortSignal) {
  const grains = await collectGrains({ ...config, grains: {} }, log)
  const loader = openLoader('modules', { config, grains, log })
  const context = createContext(
    {
      opts: config,
      id: config.id,
      grains,
      pillar: {},
      context: new Map(),
      log,
      signal,
      retcode: 0,
      match: await openMatch({ id: config.id, grains, config, log }),
      get minion(): MinionServices {
        throw only('minion', 'functions on a minion; this one runs on the master')
      },
      get master(): MasterServices {
        throw only('master', 'runners; this is an execution function')
      },
    },
    loader,
  )
  return context
}

const only = (member: string, whom: string) =>
  new SaltError('INVOCATION', `context.${member} is available only to ${whom}.`)
