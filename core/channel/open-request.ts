import type { Log } from '../author/context.ts'
import { isMinionId, type MinionId } from '../base/minion-id.ts'
import { perMinuteQuota } from '../base/quota.ts'
import type { PublicKey, SymmetricKey } from '../crypto/index.ts'
import { asNumber, asText } from '../wire/bytes.ts'
import {
  type AesEnvelope,
  type Algorithms,
  checkId,
  GENERATION_3,
  readLoad,
  refusals,
} from '../wire/envelope.ts'
import type { AesKeys } from './aes-keys.ts'
import { tokenHolds } from './token.ts'

/** The sender of an encrypted request, and whether its id is verified. */
export interface Sender {
  /** The id in the load; bound to the key that decrypted the request if `verified`. */
  readonly id: string | undefined
  /** Whether the sender proved that it holds the private key of `id` (`tok`): always in generation 3. */
  readonly verified: boolean
  readonly version: number
  readonly algorithms: Algorithms
  /** Fingerprint of this message, which detects replays. */
  readonly fingerprint: Buffer
}

/** The session of a minion (wire protocol §18). */
interface MinionSession {
  readonly key: SymmetricKey
  /** The minion's accepted public key. */
  readonly owner: PublicKey
  /** Whether the minion has used this session before. */
  readonly used: boolean
}

/** Dependencies for decrypting requests. */
export interface OpenerSettings {
  readonly aesKeys: AesKeys
  /** Return the session of a minion with an accepted key, or undefined. Called for every request. */
  session(id: MinionId): Promise<MinionSession | undefined>
  /** Return a minion's accepted public key, or undefined. */
  publicKey(id: MinionId): Promise<PublicKey | undefined>
  /** Whether the minion has spoken generation 3 with its present key; lower generations are then refused. */
  speaksGeneration3(id: MinionId): Promise<boolean>
  /** Record that a verified minion spoke generation 3. (A sign-in proves nothing: public keys are not secret.) */
  spokeGeneration3(id: MinionId): Promise<void>
  /** Maximum age of a request in seconds; 0 means no limit. */
  readonly requestTtl: number
  readonly log: Log
  now(): number
}

/** Maximum number of log messages per minute about requests in another minion's name, so that strangers cannot fill the disk. */
const MAX_SUSPICIONS_PER_MINUTE = 100
const OTHER_TOKEN = 'its token was not made with the key of that minion'

/** A request that was decrypted and checked; `key` encrypts the reply. */
export interface OpenedRequest {
  readonly load: Record<string, unknown>
  readonly key: SymmetricKey
  readonly sender: Sender
}

/** A request that was refused, with the content of the reply. */
interface Refused {
  readonly reply: unknown
}

/** Create the function that decrypts and checks encrypted requests (wire protocol §7.1, §18). */
export function createRequestOpener(
  settings: OpenerSettings,
): (envelope: AesEnvelope) => Promise<OpenedRequest | Refused> {
  const suspicions = perMinuteQuota(MAX_SUSPICIONS_PER_MINUTE, settings.now)

  /** Log and refuse a request that the accepted minion `id` would not have made. */
  function suspect(id: MinionId, why: string): Refused {
    const before = suspicions()
    if (before !== undefined) {
      const more = before > 0 ? ` ${before} such requests before it are not in the log.` : ''
      settings.log.warn(`Refused a request that claims to be from ${id} and may be forged: ${why}.${more}`)
    }
    return { reply: refusals.badLoad }
  }

  /** Open a generation 3 request. Session key, matching ids, verified token and age are all mandatory. */
  async function openGeneration3(envelope: AesEnvelope): Promise<OpenedRequest | Refused> {
    const badLoad = { reply: refusals.badLoad }
    const { id, algorithms } = envelope
    if (!isMinionId(id) || !algorithms) return badLoad
    const session = await settings.session(id)
    if (!session) return badLoad
    const message = session.key.decrypt(envelope.load)
    if (!message) return suspect(id, 'it is not encrypted with the session key of that minion')
    const load = readLoad(message)
    if (!load) return { reply: refusals.notMaps }
    const wrong = checkId(load)
    if (wrong) return { reply: wrong.reply }
    if (load.id !== id) return suspect(id, 'the id in the load differs from the id of the envelope')
    if (!fresh(load.ts)) return suspect(id, 'its ts is missing or older than request_server_ttl')
    if (asText(load.nonce, 128) === undefined) return suspect(id, 'it has no nonce')
    if (!tokenHolds(session.owner, load.tok)) return suspect(id, OTHER_TOKEN)
    delete load.tok
    if (!session.used) await settings.spokeGeneration3(id)
    return { load, key: session.key, sender: senderOf(envelope, id, true, algorithms) }
  }

  /** Open a generation 2 request with the AES key; a token is checked if there is one (wire protocol §7.1). */
  async function openGeneration2(envelope: AesEnvelope): Promise<OpenedRequest | Refused> {
    const badLoad = { reply: refusals.badLoad }
    const opened = openWithAny(settings.aesKeys.accepted(), envelope.load)
    if (!opened) return badLoad
    const load = readLoad(opened.message)
    if (!load) return { reply: refusals.notMaps }
    const wrong = checkId(load)
    if (wrong) return { reply: wrong.reply }
    const id = load.id
    if (id !== undefined && !isMinionId(id)) return badLoad
    const refused = id && (await refusedInGeneration2(id, load.tok))
    if (refused) return refused
    const verified = id !== undefined && load.tok !== undefined
    delete load.tok
    const algorithms = envelope.algorithms ?? { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' }
    return { load, key: opened.key, sender: senderOf(envelope, id, verified, algorithms) }
  }

  /**
   * Refuse generation 2 requests of minions that are not accepted or that speak generation 3: the AES key alone does
   * not prove an id.
   */
  async function refusedInGeneration2(id: MinionId, token: unknown): Promise<Refused | undefined> {
    const key = await settings.publicKey(id)
    if (!key) return { reply: refusals.badLoad }
    if (await settings.speaksGeneration3(id)) return suspect(id, 'that minion has used generation 3 before')
    if (token !== undefined && !tokenHolds(key, token)) return suspect(id, OTHER_TOKEN)
    return undefined
  }

  function fresh(ts: unknown): boolean {
    if (settings.requestTtl <= 0) return true
    const sent = asNumber(ts)
    return sent !== undefined && settings.now() / 1000 - sent <= settings.requestTtl
  }

  return (envelope) =>
    envelope.version >= GENERATION_3 ? openGeneration3(envelope) : openGeneration2(envelope)
}

const senderOf = (
  envelope: AesEnvelope,
  id: string | undefined,
  verified: boolean,
  algorithms: Algorithms,
): Sender => ({
  id,
  verified,
  version: envelope.version,
  algorithms,
  fingerprint: envelope.load.subarray(-32),
})

function openWithAny(
  keys: readonly SymmetricKey[],
  sealed: Uint8Array,
): { key: SymmetricKey; message: Buffer } | undefined {
  for (const key of keys) {
    const message = key.decrypt(sealed)
    if (message) return { key, message }
  }
  return undefined
}
