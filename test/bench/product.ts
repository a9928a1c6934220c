/** The parts of the product that drivers of the bench use, from their sources; the daemons and commands they measure are those that were built. */

export { deferred } from '../../core/base/deferred.ts'
export { cachedMinions } from '../../core/cache/cached-minions.ts'
export { MinionData } from '../../core/cache/minion-data.ts'
export { runTopic } from '../../core/channel/publish-channel.ts'
export { signIn } from '../../core/channel/sign-in-client.ts'
export { LocalClient, loadMasterConfig } from '../../core/client/index.ts'
export { createMasterServices } from '../../core/client/services/master-services.ts'
export { createReturnerAdmin } from '../../core/client/services/returner-admin.ts'
export * as codec from '../../core/codec/index.ts'
export { eventOutboxDirectory, jobCacheDirectory } from '../../core/config/cachedir.ts'
export * as crypto from '../../core/crypto/index.ts'
export { encodeEvent } from '../../core/events/event.ts'
export { packFrame } from '../../core/events/frames.ts'
export { EventBus, masterEventSockets } from '../../core/events/index.ts'
export { JobCache } from '../../core/jobs/job-cache.ts'
export { openJobCache } from '../../core/jobs/open-job-cache.ts'
export { reconnectionWaits } from '../../core/minion/link/reconnection.ts'
export { Outbox } from '../../core/outbox/outbox.ts'
export { expectedMinions } from '../../core/targets/index.ts'
export { openMatchers } from '../../core/targets/open-match.ts'
export { getTransport, natsTransport } from '../../core/transport/index.ts'
export { openProxy, openWorker } from '../../core/transport/proxy.ts'
export { asBytes } from '../../core/wire/bytes.ts'
export { packAes, readLoad } from '../../core/wire/envelope.ts'
export {
  makeStartReport,
  newStartToken,
  readStartAnswer,
  type StartAnswer,
} from '../../core/wire/minion-start.ts'
export { makeMissedJobsRequest } from '../../core/wire/missed-jobs.ts'
export { readJobLoad, readPublication } from '../../core/wire/publication.ts'
export { makeReturn } from '../../core/wire/return.ts'
