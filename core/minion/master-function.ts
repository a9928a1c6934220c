import type { Log, MasterServices, MinionServices } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import type { MinionConfig } from '../config/index.ts'
import { createContext, openLoader } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'

interface Facts {
  readonly grains: Readonly<Record<string, unknown>>
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * With `master_type: func`, return the configuration with the masters that the function named by `master` returns: one master, or
 * a list for failover. Rejects with CONFIG_INVALID if there is no such function, or it returns something else.
 */
export async function withChosenMasters(config: MinionConfig, facts: Facts): Promise<MinionConfig> {
  if (config.master_type !== 'func') return config
  const chosen = await callNamed(config, facts)
  const isList = Array.isArray(chosen) && chosen.length > 0 && chosen.every((one) => typeof one === 'string')
  if (isList) return { ...config, master: chosen, master_type: 'failover' }
  if (typeof chosen === 'string' && chosen !== '') return { ...config, master: chosen, master_type: 'str' }
  throw invalid(
    config,
    `it must return the address of a master, or a list of them, but returned ${typeof chosen}`,
  )
}

async function callNamed(config: MinionConfig, { grains, log, signal }: Facts): Promise<unknown> {
  const { master, id } = config
  if (typeof master !== 'string') throw invalid(config, 'master must be the name of one function')
  const loader = openLoader('modules', { config, grains, log })
  if (!(await loader.get(master))) {
    const why = `${await loader.why(master)}${await loader.hint(master)}`
    throw invalid(
      config,
      `${why} It must be a function of a module in TypeScript or JavaScript; modules in Python are not loaded`,
    )
  }
  const base = {
    opts: config,
    id,
    grains,
    pillar: {},
    context: new Map(),
    log,
    signal,
    retcode: 0,
    match: await openMatch({ id, grains, config, log }),
    get minion(): MinionServices {
      throw new SaltError(
        'INVOCATION',
        'context.minion is not available to a function that chooses the master.',
      )
    },
    get master(): MasterServices {
      throw new SaltError('INVOCATION', 'context.master is available only to runners.')
    },
  }
  return createContext(base, loader).call(master as Parameters<ReturnType<typeof createContext>['call']>[0])
}

const invalid = ({ master, conf_file }: MinionConfig, why: string): SaltError =>
  new SaltError(
    'CONFIG_INVALID',
    `master_type is func, and master names '${[master].flat().join(', ')}': ${why}. Correct it in ${conf_file} or wherever else it is set.`,
    { key: 'master' },
  )
