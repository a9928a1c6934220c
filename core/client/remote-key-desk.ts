import { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import type { KeyLists } from '../keys/index.ts'
import type { ExternalAuth } from './external-auth.ts'
import {
  including,
  type KeyAct,
  type KeyDesk,
  type KeyOutcome,
  type KeyTexts,
  sectionAfter,
} from './key-desk.ts'
import { RemoteFunctionClient } from './remote-function-client.ts'

type Keywords = Readonly<Record<string, unknown>>

/** The keys of the master, asked for through its wheel functions by who is known to its `external_auth`. */
export function remoteKeyDesk(config: MasterConfig, auth: ExternalAuth): KeyDesk {
  const wheel = new RemoteFunctionClient('wheel', config, auth)
  const call = async (fun: string, args: readonly unknown[], kwargs: Keywords = {}) => {
    const { return: value, success } = await wheel.run(fun, args, kwargs)
    if (success && typeof value === 'object' && value !== null) return value
    throw new SaltError('COMMAND_EXECUTION', `The master did not do ${fun}: ${value}`)
  }
  const minionsOnly = async (fun: string, arg: string): Promise<KeyLists> => {
    const { local: _, ...lists } = (await call(fun, [arg])) as KeyLists
    return lists
  }
  return {
    list: async (word) => {
      const lists = await minionsOnly('key.list', word)
      return Object.keys(lists).length > 0 ? lists : undefined
    },
    match: (match) => minionsOnly('key.name_match', match),
    print: async (match) => (await call('key.print', [match])) as KeyTexts,
    finger: async (match) => (await call('key.finger', [match])) as KeyTexts,
    change: async (act, keys, states) => {
      const now = (await call(`key.${act}_dict`, [keys], keywordsOf(act, including(states)))) as KeyLists
      return [...new Set(Object.values(keys).flat())].map((id) => outcomeOf(act, id, now))
    },
    close: () => wheel.close(),
  }
}

function keywordsOf(
  act: KeyAct,
  { includeAccepted, includeRejected, includeDenied }: ReturnType<typeof including>,
) {
  if (act === 'delete') return {}
  const other =
    act === 'accept' ? { include_rejected: includeRejected } : { include_accepted: includeAccepted }
  return { ...other, include_denied: includeDenied }
}

/** The master tells where the keys are afterwards, and not why. */
function outcomeOf(act: KeyAct, id: string, now: KeyLists): KeyOutcome {
  const done =
    act === 'delete' ? !Object.values(now).flat().includes(id) : now[sectionAfter[act]]?.includes(id)
  return done ? { id } : { id, refused: `The master did not ${act} the key of ${id}; its log may say why.` }
}
