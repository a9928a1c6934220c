import type { EncryptedHandler } from '../../channel/request-server.ts'
import { asksForCatalogueSupport, catalogueSupport } from '../../wire/catalogue.ts'
import { makeStartAnswer, readStartReport } from '../../wire/minion-start.ts'
import type { WorkerContext } from '../worker/context.ts'
import { createStartAnswers } from './minion-start.ts'

/** Salt's values of options that minions ask for (wire protocol §7.2) and salt-ts does not have. */
const STATE_OPTIONS = {
  renderer: 'jinja|yaml',
  failhard: false,
  state_top: 'top.sls',
  state_top_saltenv: null,
  state_auto_order: true,
  state_events: false,
  state_aggregate: false,
  jinja_env: {},
  jinja_sls_env: {},
  jinja_lstrip_blocks: false,
  jinja_trim_blocks: false,
}

/**
 * `_master_opts`: options that minions take over from the master; of the file server only the names of the environments.
 * Minions of salt-ts also announce their start with it, and ask whether this master accepts catalogues.
 */
export function masterOpts(context: WorkerContext): EncryptedHandler {
  const { config, files } = context
  const answerStart = createStartAnswers(context)
  return async (load, { id, verified }) => {
    const start = id && verified ? readStartReport(load) : undefined
    if (id && start) return makeStartAnswer(await answerStart(id, start))

    const envs = new Set(Object.values(await files.envs()).flat())
    const environment = {
      file_roots: Object.fromEntries([...envs].map((saltenv) => [saltenv, []])),
      top_file_merging_strategy: 'merge',
      env_order: [],
      default_top: 'base',
    }
    if (asksForCatalogueSupport(load)) return { ...environment, ...catalogueSupport }
    return load.env_only ? environment : { ...environment, ...STATE_OPTIONS, nodegroups: config.nodegroups }
  }
}
