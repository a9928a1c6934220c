import type { EncryptedHandler } from '../../channel/request-server.ts'
import { asksForCatalogueSupport, catalogueSupport } from '../../wire/catalogue.ts'
import { readStartReport } from '../../wire/minion-start.ts'
import { offerMissedJobs } from '../../wire/missed-jobs.ts'
import type { WorkerContext } from '../worker/context.ts'
import { checkMinionStart } from './minion-start.ts'

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
 * Minions of salt-ts also announce their start with it, and ask whether this master accepts catalogues; the answer to a start offers
 * `_missed_jobs`.
 */
export function masterOpts(context: WorkerContext): EncryptedHandler {
  const { config, files } = context
  return async (load, { id, verified }) => {
    const start = id && verified ? readStartReport(load) : undefined
    if (id && start)
      return (await checkMinionStart(context, id, start)) ?? offerMissedJobs(config.sign_pub_messages)

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
