import type { Log } from '../author/context.ts'
import type { Clock } from '../base/clock.ts'
import type { AesKeys } from '../channel/aes-keys.ts'
import { createRequestServer } from '../channel/request-server.ts'
import { createSignInServer, type Decision } from '../channel/sign-in-server.ts'
import { tags } from '../events/index.ts'
import type { MasterKeys } from '../keys/master-keys.ts'
import type { SessionKeys } from '../keys/session-keys.ts'
import { GENERATION_3 } from '../wire/envelope.ts'
import type { SignInRequest } from '../wire/sign-in.ts'
import { clearHandlers, encryptedHandlers } from './handlers/index.ts'
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
    aesKey: () => aesKeys.current,
    sessionKey: (id, key) => sessions.forAcceptedKey(id, key),
    decide: settings.decide,
    refusesVersion: async ({ id }, version) => version < GENERATION_3 && (await sessions.wasUsed(id)),
    announce: (event) => {
      if (config.auth_events) room.fire(tags.auth, event)
    },
    log,
  })
  return createRequestServer({
    aesKeys,
    session: (id) => sessions.current(id),
    publicKey: (id) => room.publicKey(id),
    speaksGeneration3: (id) => sessions.wasUsed(id),
    spokeGeneration3: (id) => sessions.used(id),
    minimumVersion: config.minimum_auth_version,
    requestTtl: config.request_server_ttl,
    clear: clearHandlers(room),
    encrypted: encryptedHandlers(room),
    signIn,
    log,
    now: () => clock.now(),
    deadlineMs: DEADLINE_MS,
  })
}
