import { messageOf } from '../base/errors.ts'
import { quota } from '../base/quota.ts'
import type { Decision } from '../channel/sign-in-server.ts'
import { connectedIds } from '../jobs/connected.ts'
import {
  auditEntry,
  byPersonOnly,
  createKeyPolicy,
  eventsOf,
  type Invites,
  isApiClient,
  type Outcome,
} from '../keys/index.ts'
import type { SignInRequest } from '../wire/sign-in.ts'
import type { WorkerSurroundings } from './open-worker.ts'
import type { WorkerRoom } from './room.ts'

interface Stores extends Pick<WorkerRoom, 'keys' | 'keyAudit'> {
  readonly invites: Invites
}

/** Lines a minute in the audit log about keys that were not accepted: strangers must not fill the disk. */
const REFUSALS = 100

/** Decides about offered keys, and says so in the log, in the audit log and on the event bus. */
export function keyDecisions(around: WorkerSurroundings, { keys, keyAudit, invites }: Stores) {
  const { config, log, clock, maxPending, fire } = around
  const refusals = quota(REFUSALS, () => clock.now())
  const policy = createKeyPolicy({
    config,
    clock,
    connectedIds: () => connectedIds(config),
    warn: (message) => log.warn(message),
    async redeem(proof, id) {
      try {
        return await invites.redeem(proof, id)
      } catch (error) {
        log.error(`The join token of ${JSON.stringify(id)} could not be looked up: ${messageOf(error)}`)
        return undefined
      }
    },
    ...(maxPending !== undefined && { maxPending }),
  })

  return async ({ id, pub, nonce, autosignGrains, joinProof }: SignInRequest): Promise<Decision> => {
    const isClient = isApiClient(id, config.api_clients)
    const outcome = await keys.offer(id, pub, isClient ? byPersonOnly(policy) : policy, {
      ...(autosignGrains && { autosignGrains }),
      ...(joinProof && { joinProof: { ...joinProof, pub, nonce } }),
    })
    const { verdict, reason, filed, changes, join } = outcome
    const say = filed || verdict === 'denied' ? log.info : log.debug
    say(`Authentication request from ${JSON.stringify(id)}: ${verdict}, because ${reason}`)
    await record(outcome)
    for (const [tag, data] of eventsOf(changes)) fire(tag, data)
    if (outcome.verdict === 'accepted') return { verdict: outcome.verdict, key: outcome.key }
    return { verdict: outcome.verdict, ...(filed && { filed }), ...(join && { join: join.state }) }
  }

  async function record({ verdict, changes, by, join }: Outcome): Promise<void> {
    if (changes.length === 0) return
    const leftOut = verdict === 'accepted' ? 0 : refusals()
    if (leftOut === undefined) return
    const what = by ?? (verdict === 'rejected' ? 'autoreject_file' : 'sign-in')
    const details = {
      ...(join?.state === 'good' && { invite: join.invite }),
      ...(leftOut > 0 && { left_out_before: leftOut }),
    }
    await keyAudit.record(
      changes.map((change) => ({ ...auditEntry(change, what, config.hash_type), ...details })),
    )
  }
}
