import type { Log } from '../../author/context.ts'
import type { Clock } from '../../base/clock.ts'
import type { AesKeys } from '../../channel/aes-keys.ts'
import { createRequestServer } from '../../channel/request-server.ts'
import { createSignInServer, type SignInDecision } from '../../channel/sign-in-server.ts'
import { masterNameOf } from '../../config/index.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import { tags } from '../../events/index.ts'
import { isApiClient } from '../../keys/index.ts'
import type { MasterKeys } from '../../keys/master-keys.ts'
import type { SessionKeys } from '../../keys/session-keys.ts'
import { GENERATION_3 } from '../../wire/envelope.ts'
import type { SignInRequest } from '../../wire/sign-in.ts'
import { withApiClients } from '../handlers/api-client.ts'
import { clearHandlers, encryptedHandlers } from '../handlers/index.ts'
import { withClientMetrics, withDurationMetrics } from '../metrics/request-metrics.ts'
import { withPublishSpans } from '../metrics/request-spans.ts'
import type { WorkerContext } from './context.ts'
import { requestsTo, sharesConnections } from './shared-connections.ts'

/** A request that takes longer is answered with an error. A return may wait for room on the disk (take-return.ts). */
const DEADLINE_MS = 50_000

export interface WorkerSettings {
  readonly context: WorkerContext
  readonly masterKeys: MasterKeys
  readonly sessions: SessionKeys
  readonly aesKeys: AesKeys
  decide(request: SignInRequest): Promise<SignInDecision>
  readonly log: Log
  readonly clock: Clock
}

/** Create the function of an MWorker that returns the reply frame to a request frame. */
export function createWorker(settings: WorkerSettings): (frame: Uint8Array) => Promise<Uint8Array> {
  const { context, masterKeys, sessions, aesKeys, log, clock } = settings
  const { config } = context
  const name = sharesConnections(config) ? masterNameOf(config) : undefined
  const toThisMaster = name === undefined ? <T>(session: T) => session : requestsTo(name)
  const signIn = createSignInServer({
    masterKey: masterKeys.key,
    pubSignature: ({ signing }) => masterKeys.pubSignature(signing),
    publishPort: config.publish_port,
    // Clients of the API are not minions: they get a random key that is not used.
    aesKey: (id) => (isApiClient(id, config.api_clients) ? SymmetricKey.generate() : aesKeys.current),
    sessionKey: (id, key) => sessions.forAcceptedKey(id, key),
    name,
    decide: settings.decide,
    refusesVersion: async ({ id }, version) => version < GENERATION_3 && (await sessions.wasUsed(id)),
    announce: (event) => {
      context.meter?.count('salt_master_sign_ins', [event.act ?? 'reject'])
      if (config.auth_events) context.fire(tags.auth, event)
    },
    log,
  })
  const clear = withPublishSpans(withClientMetrics(clearHandlers(context), context.meter), context.tracer)
  return createRequestServer({
    aesKeys,
    session: async (id) => toThisMaster(await sessions.current(id)),
    publicKey: (id) => context.publicKey(id),
    speaksGeneration3: (id) => sessions.wasUsed(id),
    spokeGeneration3: (id) => sessions.used(id),
    // A request that is encrypted with the AES key could be replayed to another master.
    minimumVersion: name === undefined ? config.minimum_auth_version : GENERATION_3,
    requestTtl: config.request_server_ttl,
    clear,
    encrypted: withDurationMetrics(withApiClients(context, clear, encryptedHandlers(context)), context.meter),
    signIn,
    log,
    now: () => clock.now(),
    deadlineMs: DEADLINE_MS,
  })
}
