import type { ClearHandler, EncryptedHandler } from '../../channel/request-server.ts'
import { SYNDIC_REPORT } from '../../wire/syndic.ts'
import type { WorkerContext } from '../worker/context.ts'
import { callCheckHandler, catalogueHandler } from './catalogue.ts'
import { fileHandlers } from './files.ts'
import { masterOpts } from './master-opts.ts'
import { mineHandlers } from './mine.ts'
import { minionEventHandler } from './minion-event.ts'
import { missedJobsHandler } from './missed-jobs.ts'
import { peerPublishHandlers } from './peer-publish.ts'
import { peerRunHandler } from './peer-run.ts'
import { pillarHandler } from './pillar.ts'
import { planHandler } from './plan.ts'
import { publishHandler } from './publish.ts'
import { returnHandler } from './return.ts'
import { revokeAuthHandler } from './revoke-auth.ts'
import { runFunctionHandlers } from './run-function.ts'
import { syndicReportHandler, syndicReturnHandler } from './syndic.ts'
import { takeJobHandler } from './take-job.ts'
import { tokenHandlers } from './tokens.ts'

/** Answers a command of the protocol that this master does not implement. */
const notOffered = async () => ({})

/** Return the handlers of all clear commands (wire protocol §8, and our own `_plan` and `_revoke_token`) but `_auth` (core/channel). */
export function clearHandlers(context: WorkerContext): ReadonlyMap<string, ClearHandler> {
  return new Map<string, ClearHandler>([
    ['ping', async (load) => load],
    ['publish', publishHandler(context)],
    ['_plan', planHandler(context)],
    ...tokenHandlers(context),
    ...runFunctionHandlers(context),
  ])
}

/**
 * Return the handlers of all encrypted commands (wire protocol §7, and our own `_catalogue`, `_verdict`, `_missed_jobs`, `_take_job` and `_syndic_minions`). Commands of
 * features that salt-ts does not have get the empty answer that Salt's minions expect.
 */
export function encryptedHandlers(context: WorkerContext): ReadonlyMap<string, EncryptedHandler> {
  return new Map<string, EncryptedHandler>([
    ['_return', returnHandler(context)],
    ['_minion_event', minionEventHandler(context)],
    ['_pillar', pillarHandler(context)],
    ['_catalogue', catalogueHandler(context)],
    ['_verdict', callCheckHandler(context)],
    ['_missed_jobs', missedJobsHandler(context)],
    ['_take_job', takeJobHandler(context)],
    ['_master_opts', masterOpts(context)],
    ['revoke_auth', revokeAuthHandler(context)],
    ...fileHandlers(context),
    ['_master_tops', notOffered],
    ...mineHandlers(context),
    ['_syndic_return', syndicReturnHandler(context)],
    [SYNDIC_REPORT, syndicReportHandler(context)],
    ...peerPublishHandlers(context),
    ['minion_runner', peerRunHandler(context)],
    ['verify_minion', async () => ''],
  ])
}
