import type { Log } from '../author/context.ts'
import type { Clock } from '../base/clock.ts'
import type { AesKeys } from '../channel/aes-keys.ts'
import { createRequestServer } from '../channel/request-server.ts'
import { createSignInServer, type Decision } from '../channel/sign-in-server.ts'
import { SymmetricKey } from '../crypto/index.ts'
import { tags } from '../events/index.ts'
import { isApiClient } from '../keys/index.ts'
import type { MasterKeys } from '../keys/master-keys.ts'
import type { SessionKeys } from '../keys/session-keys.ts'
import { GENERATION_3 } from '../wire/envelope.ts'
import type { SignInRequest } from '../wire/sign-in.ts'
import { withApiClients } from './handlers/api-client.ts'
import { clearHandlers, encryptedHandlers } from './handlers/index.ts'
import { measured, measuredClear } from './request-metrics.ts'
import { tracedClear } from './request-spans.ts'
import type { WorkerRoom } from './room.ts'

/** A request that takes longer is answered as failed. A return may wait for room on the disk, see its handler. */
const DEADLINE_MS = 50_000

export interface WorkerSettings {
  readonly room: WorkerRoom
  readonly masterKeys: MasterKeys
  readonly sessions: SessionKeys
  readonly aesKeys: AesKeys
  decide(request: SignInRequest): Promise<Decision>
  readonly log: Log
  readonly clock: Clock
}

/** One MWorker: gives the reply frame to a request frame. */
export function createWorker(settings: WorkerSettings): (frame: Uint8Array) => Promise<Uint8Array> {
  const { room, masterKeys, sessions, aesKeys, log, clock } = settings
  const { config } = room
  const signIn = createSignInServer({
    masterKey: masterKeys.key,
    pubSignature: ({ signing }) => masterKeys.pubSignature(signing),
    publishPort: config.publish_port,
    // Who is no minion gets one that nothing is encrypted with.
    aesKey: (id) => (isApiClient(id, config.api_clients) ? SymmetricKey.generate() : aesKeys.current),
    sessionKey: (id, key) => sessions.forAcceptedKey(id, key),
    decide: settings.decide,
    refusesVersion: async ({ id }, version) => version < GENERATION_3 && (await sessions.wasUsed(id)),
    announce: (event) => {
      room.meter?.count('salt_master_sign_ins', [event.act ?? 'reject'])
      if (config.auth_events) room.fire(tags.auth, event)
    },
    log,
  })
  const clear = tracedClear(measuredClear(clearHandlers(room), room.meter), room.tracer)
  return createRequestServer({
    aesKeys,
    session: (id) => sessions.current(id),
    publicKey: (id) => room.publicKey(id),
    speaksGeneration3: (id) => sessions.wasUsed(id),
    spokeGeneration3: (id) => sessions.used(id),
    minimumVersion: config.minimum_auth_version,
    requestTtl: config.request_server_ttl,
    clear,
    encrypted: measured(withApiClients(room, clear, encryptedHandlers(room)), room.meter),
    signIn,
    log,
    now: () => clock.now(),
    deadlineMs: DEADLINE_MS,
  })
}
