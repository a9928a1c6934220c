import type { EncryptedHandler } from '../../channel/request-server.ts'
import { asksForReports, takesReports } from '../../wire/catalogue.ts'
import { readStartReport } from '../../wire/minion-start.ts'
import type { WorkerRoom } from '../room.ts'
import { answerStart } from './minion-start.ts'

/** Options a minion asks for (wire protocol §7.2), with Salt's values where salt-ts has no option of that name. */
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
 * `_master_opts`: what minions take over from the master. Of the file server they get to know the environments only. Minions
 * of salt-ts say with it that they start, and ask whether they may report what they offer.
 */
export function masterOpts(room: WorkerRoom): EncryptedHandler {
  const { config, files } = room
  return async (load, { id, verified }) => {
    const start = id && verified ? readStartReport(load) : undefined
    if (id && start) return (await answerStart(room, id, start)) ?? {}

    const envs = new Set(Object.values(await files.envs()).flat())
    const environment = {
      file_roots: Object.fromEntries([...envs].map((saltenv) => [saltenv, []])),
      top_file_merging_strategy: 'merge',
      env_order: [],
      default_top: 'base',
    }
    if (asksForReports(load)) return { ...environment, ...takesReports }
    return load.env_only ? environment : { ...environment, ...STATE_OPTIONS, nodegroups: config.nodegroups }
  }
}
