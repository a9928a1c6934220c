import type { KeyTexts } from '../../author/master.ts'
import { SaltError } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { KeysBySection } from '../../keys/index.ts'
import type { ExternalAuth } from '../local/external-auth.ts'
import {
  includeFlags,
  type KeyAction,
  type KeyOperations,
  type KeyOutcome,
  resultingSection,
} from '../local/key-operations.ts'
import { RemoteFunctionClient } from './remote-function-client.ts'

type Keywords = Readonly<Record<string, unknown>>

/** Operate on the keys of the master through its wheel functions, authenticated by `external_auth`. */
export function remoteKeyOperations(config: MasterConfig, auth: ExternalAuth): KeyOperations {
  const wheel = new RemoteFunctionClient('wheel', config, auth)
  const call = async (fun: string, args: readonly unknown[], kwargs: Keywords = {}) => {
    const { return: value, success } = await wheel.run(fun, args, kwargs)
    if (success && typeof value === 'object' && value !== null) return value
    throw new SaltError('COMMAND_EXECUTION', `The master did not run ${fun}: ${value}`)
  }
  const minionsOnly = async (fun: string, arg: string): Promise<KeysBySection> => {
    const { local: _, ...lists } = (await call(fun, [arg])) as KeysBySection
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
      const now = (await call(
        `key.${act}_dict`,
        [keys],
        keywordsOf(act, includeFlags(states)),
      )) as KeysBySection
      return [...new Set(Object.values(keys).flat())].map((id) => outcomeOf(act, id, now))
    },
    close: () => wheel.close(),
  }
}

function keywordsOf(
  act: KeyAction,
  { includeAccepted, includeRejected, includeDenied }: ReturnType<typeof includeFlags>,
) {
  if (act === 'delete') return {}
  const other =
    act === 'accept' ? { include_rejected: includeRejected } : { include_accepted: includeAccepted }
  return { ...other, include_denied: includeDenied }
}

/** Return the result for one key. The master only reports in which section each key is afterwards. */
function outcomeOf(act: KeyAction, id: string, now: KeysBySection): KeyOutcome {
  const done =
    act === 'delete' ? !Object.values(now).flat().includes(id) : now[resultingSection[act]]?.includes(id)
  return done ? { id } : { id, refused: `The master did not ${act} the key of ${id}; its log may say why.` }
}
