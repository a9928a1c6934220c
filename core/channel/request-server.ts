import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { isMinionId, type MinionId } from '../base/minion-id.ts'
import { quota } from '../base/quota.ts'
import { encodeNetwork } from '../codec/index.ts'
import type { PublicKey, SymmetricKey } from '../crypto/index.ts'
import { component } from '../log/component.ts'
import { asBytes, asNumber, asText } from '../wire/bytes.ts'
import {
  type AesEnvelope,
  type Algorithms,
  type ClearEnvelope,
  checkId,
  GENERATION_3,
  readEnvelope,
  readLoad,
  refusals,
} from '../wire/envelope.ts'
import type { ClaimedVia } from '../wire/via.ts'
import type { AesKeys } from './aes-keys.ts'

/** Who sent an encrypted request, and how sure that is. */
export interface Sender {
  /** The id the load names; bound to the key that opened it if `verified`. */
  readonly id: string | undefined
  /** The sender proved to hold the private key of `id` (`tok`): always in generation 3. */
  readonly verified: boolean
  readonly version: number
  readonly algorithms: Algorithms
  /** Fingerprint of this very message: the same again is a replay. */
  readonly fingerprint: Buffer
}

/** A reply that goes out as it is instead of inside the symmetric envelope (pillar, wire protocol §7.3). */
export class PlainReply {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** `via`: for whom somebody else has passed it on, as far as that is told. */
export type ClearHandler = (load: Record<string, unknown>, via?: ClaimedVia) => Promise<unknown>
export type EncryptedHandler = (load: Record<string, unknown>, sender: Sender) => Promise<unknown>

/** The session of a minion (wire protocol §18). */
interface MinionSession {
  readonly key: SymmetricKey
  /** The minion's accepted public key. */
  readonly owner: PublicKey
  /** False until `spokeGeneration3`. */
  readonly used: boolean
}

export interface RequestServerSettings {
  readonly aesKeys: AesKeys
  /** The session of a minion whose key is accepted, or undefined. Asked for with every request. */
  session(id: MinionId): Promise<MinionSession | undefined>
  /** The accepted public key of a minion, or undefined. */
  publicKey(id: MinionId): Promise<PublicKey | undefined>
  /** True once a minion has spoken generation 3 with its present key: lower is refused from then on. */
  speaksGeneration3(id: MinionId): Promise<boolean>
  /** It has just done so, and proved who it is. (A sign-in proves nothing: public keys are no secret.) */
  spokeGeneration3(id: MinionId): Promise<void>
  readonly minimumVersion: number
  /** Greatest age of a request in seconds; 0: any. */
  readonly requestTtl: number
  readonly clear: ReadonlyMap<string, ClearHandler>
  readonly encrypted: ReadonlyMap<string, EncryptedHandler>
  /** `_auth`: gives the finished reply frame. */
  signIn(load: Record<string, unknown>, version: number): Promise<Uint8Array>
  readonly log: Log
  now(): number
  /** A handler that takes longer is given up, in milliseconds. */
  readonly deadlineMs: number
}

/** Frame to send for a refusal. */
const refuse = (reply: unknown): Uint8Array => encodeNetwork(reply)

const TOKEN_TEXT = Buffer.from('salt')
/** Lines a minute in the log about requests in the name of others: strangers must not fill the disk. */
const SUSPICIONS = 100
const OTHER_TOKEN = 'its token was not made with the key of that minion'

interface Opened {
  readonly load: Record<string, unknown>
  readonly key: SymmetricKey
  readonly sender: Sender
}

/**
 * Answers one request frame with one reply frame (wire protocol §4, §5, §18). Never rejects, and always answers:
 * each check that fails has a reply, and whatever a handler throws becomes one.
 */
export function createRequestServer(
  settings: RequestServerSettings,
): (frame: Uint8Array) => Promise<Uint8Array> {
  const { log } = settings
  const details = component(log, 'master')
  const refusedVersions = new Set<string>()
  const suspicions = quota(SUSPICIONS, settings.now)

  async function answer(frame: Uint8Array): Promise<Uint8Array> {
    const envelope = readEnvelope(frame)
    if (envelope.enc === 'unreadable') {
      log.debug(`Refused a request: ${envelope.reason}`)
      return refuse(envelope.reply)
    }
    if (envelope.version < settings.minimumVersion) {
      reportVersion(envelope)
      return refuse(refusals.badLoad)
    }
    return envelope.enc === 'clear' ? answerClear(envelope) : answerEncrypted(envelope)
  }

  /** Say once per id that a peer is too old, and what to set to let it in. */
  function reportVersion(envelope: ClearEnvelope | AesEnvelope): void {
    const id = envelope.enc === 'clear' ? envelope.load.id : envelope.id
    const who = typeof id === 'string' && isMinionId(id) ? id : 'a peer without a valid id'
    if (refusedVersions.has(who) || refusedVersions.size > 10_000) return
    refusedVersions.add(who)
    log.warn(
      `Refused ${who}: it speaks protocol generation ${envelope.version}, and minimum_auth_version is ` +
        `${settings.minimumVersion}. Upgrade it, or set minimum_auth_version: 2 in the master's configuration.`,
    )
  }

  async function answerClear({ load, version, via }: ClearEnvelope): Promise<Uint8Array> {
    const cmd = load.cmd
    if (typeof cmd !== 'string') return refuse(refusals.exception)
    details.trace('Clear payload received with command {cmd}', { cmd })
    try {
      if (cmd === '_auth') return await settings.signIn(load, version)
      const handler = settings.clear.get(cmd)
      if (!handler) return refuse({})
      return encodeNetwork(await withDeadline(handler(load, via), settings.deadlineMs))
    } catch (error) {
      log.error(`The clear command ${cmd} failed: ${messageOf(error)}`)
      return refuse(refusals.exception)
    }
  }

  async function answerEncrypted(envelope: AesEnvelope): Promise<Uint8Array> {
    try {
      const opened = await (envelope.version >= GENERATION_3
        ? openGeneration3(envelope)
        : openGeneration2(envelope))
      return 'reply' in opened ? refuse(opened.reply) : await run(opened)
    } catch (error) {
      log.error(`A request could not be opened: ${messageOf(error)}`)
      return refuse(refusals.badLoad)
    }
  }

  /** For a request that `id`, which is accepted, would not have made. */
  function suspect(id: MinionId, why: string): { reply: unknown } {
    const before = suspicions()
    if (before !== undefined) {
      const more = before > 0 ? ` ${before} such requests before it are not in the log.` : ''
      log.warn(`Refused a request in the name of ${id}, which may be another's: ${why}.${more}`)
    }
    return { reply: refusals.badLoad }
  }

  /** Generation 3: session key, ids equal, token verified, age. All mandatory. */
  async function openGeneration3(envelope: AesEnvelope): Promise<Opened | { reply: unknown }> {
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
    if (load.id !== id) return suspect(id, 'the id inside is another one')
    if (!fresh(load.ts)) return suspect(id, 'it is too old (request_server_ttl), or says no time')
    if (asText(load.nonce, 128) === undefined) return suspect(id, 'it has no nonce')
    if (!tokenHolds(session.owner, load.tok)) return suspect(id, OTHER_TOKEN)
    delete load.tok
    if (!session.used) await settings.spokeGeneration3(id)
    return { load, key: session.key, sender: senderOf(envelope, id, true, algorithms) }
  }

  /** Generation 2: the AES key; a token is checked whenever there is one (wire protocol §7.1). */
  async function openGeneration2(envelope: AesEnvelope): Promise<Opened | { reply: unknown }> {
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

  /** The AES key opens requests in anybody's name: only of minions that are accepted, and know no better. */
  async function refusedInGeneration2(id: MinionId, token: unknown): Promise<{ reply: unknown } | undefined> {
    const key = await settings.publicKey(id)
    if (!key) return { reply: refusals.badLoad }
    if (await settings.speaksGeneration3(id)) return suspect(id, 'that minion speaks generation 3')
    if (token !== undefined && !tokenHolds(key, token)) return suspect(id, OTHER_TOKEN)
    return undefined
  }

  function fresh(ts: unknown): boolean {
    if (settings.requestTtl <= 0) return true
    const sent = asNumber(ts)
    return sent !== undefined && settings.now() / 1000 - sent <= settings.requestTtl
  }

  async function run({ load, key, sender }: Opened): Promise<Uint8Array> {
    const { cmd } = load
    if (typeof cmd !== 'string') return refuse(refusals.exception)
    const nonce = sender.version >= 2 ? asText(load.nonce, 128) : undefined
    const result = await perform(cmd, load, sender)
    if (result instanceof PlainReply) return encodeNetwork(result.value)
    return encodeNetwork(key.encrypt(encodeNetwork(result ?? null), nonce))
  }

  async function perform(cmd: string, load: Record<string, unknown>, sender: Sender): Promise<unknown> {
    details.trace('AES payload received with command {cmd}', { cmd })
    const handler = settings.encrypted.get(cmd)
    if (!handler) return {}
    try {
      return await withDeadline(handler(load, sender), settings.deadlineMs)
    } catch (error) {
      if (error instanceof NotAcknowledged) return new PlainReply(refusals.badLoad)
      log.error(`The command ${cmd} of ${sender.id ?? 'an unnamed minion'} failed: ${messageOf(error)}`)
      return ''
    }
  }

  return (frame) =>
    answer(frame).catch((error: unknown) => {
      log.error(`A request failed unexpectedly: ${messageOf(error)}`)
      return refuse(refusals.exception)
    })
}

/** Whether the token was made with the private key of this public key (wire protocol §7.1). */
function tokenHolds(key: PublicKey | undefined, token: unknown): boolean {
  const sealed = asBytes(token)
  return (sealed && key?.recover(sealed)?.equals(TOKEN_TEXT)) ?? false
}

/** Thrown by a handler that must not acknowledge: the sender is told to come again. */
export class NotAcknowledged extends Error {}

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

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
