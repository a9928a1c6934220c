import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { perMinuteQuota } from '../../base/quota.ts'
import { connectedIds } from '../../cache/connected.ts'
import type { SignInDecision } from '../../channel/sign-in-server.ts'
import {
  auditEntry,
  createKeyPolicy,
  eventsOf,
  type Invites,
  isApiClient,
  manualAcceptanceOnly,
  type OfferResult,
} from '../../keys/index.ts'
import type { SignInRequest } from '../../wire/sign-in.ts'
import type { WorkerContext } from './context.ts'
import type { WorkerEnvironment } from './open-worker.ts'

interface Stores extends Pick<WorkerContext, 'keys' | 'keyAudit'> {
  readonly invites: Invites
}

/** Limits the entries of the audit log about keys that were not accepted: unknown hosts must not fill the disk. */
const MAX_REFUSALS_PER_MINUTE = 100

/** Create the function that decides about offered keys, and reports each decision in the log, the audit log and on the event bus. */
export function createKeyDecider(environment: WorkerEnvironment, { keys, keyAudit, invites }: Stores) {
  const { config, log, clock, maxPending, fire } = environment
  const refusals = perMinuteQuota(MAX_REFUSALS_PER_MINUTE, () => clock.now())
  /** Anybody may ask with the id of a damaged key, as often as they like. */
  const complain = onceInAWhile((sentence) => log.error(sentence))
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

  return async ({ id, pub, nonce, autosignGrains, joinProof }: SignInRequest): Promise<SignInDecision> => {
    const isClient = isApiClient(id, config.api_clients)
    const outcome = await keys.offer(id, pub, isClient ? manualAcceptanceOnly(policy) : policy, {
      ...(autosignGrains && { autosignGrains }),
      ...(joinProof && { joinProof: { ...joinProof, pub, nonce } }),
    })
    const { verdict, reason, filed, changes, join } = outcome
    const sentence = `Authentication request from ${JSON.stringify(id)}: ${verdict}, because ${reason}`
    if (verdict === 'damaged') complain(sentence)
    else logAt(log, outcome)(sentence)
    await record(outcome)
    for (const [tag, data] of eventsOf(changes)) fire(tag, data)
    if (outcome.verdict === 'accepted')
      return { verdict: outcome.verdict, key: outcome.key, isNew: filed !== undefined }
    return { verdict: outcome.verdict, ...(filed && { filed }), ...(join && { join: join.state }) }
  }

  async function record({ verdict, changes, by, join }: OfferResult): Promise<void> {
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

function logAt(log: Log, { verdict, filed }: OfferResult): Log['info'] {
  return filed || verdict === 'denied' ? log.info : log.debug
}
