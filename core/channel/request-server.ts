import { messageOf } from '../base/errors.ts'
import { isMinionId } from '../base/minion-id.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { encodeNetwork, encodeNetworkParts, networkBytesHead } from '../codec/index.ts'
import { component } from '../log/component.ts'
import { asText } from '../wire/bytes.ts'
import { type AesEnvelope, type ClearEnvelope, readEnvelope, refusals } from '../wire/envelope.ts'
import type { ClaimedVia } from '../wire/via.ts'
import { createRequestOpener, type OpenedRequest, type OpenerSettings, type Sender } from './open-request.ts'

export type { Sender } from './open-request.ts'

/** A reply that is sent unchanged, not inside the symmetric envelope (pillar, wire protocol §7.3). */
export class PlainReply {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** `via`: the client on whose behalf a server forwarded the request, if known. */
export type ClearHandler = (load: Record<string, unknown>, via?: ClaimedVia) => Promise<unknown>
export type EncryptedHandler = (load: Record<string, unknown>, sender: Sender) => Promise<unknown>

export interface RequestServerSettings extends OpenerSettings {
  /** `minimum_auth_version`. */
  readonly minimumVersion: number
  readonly clear: ReadonlyMap<string, ClearHandler>
  readonly encrypted: ReadonlyMap<string, EncryptedHandler>
  /** Handle `_auth` and return the finished reply frame. */
  signIn(load: Record<string, unknown>, version: number): Promise<Uint8Array>
  /** Time limit of a handler in milliseconds. */
  readonly deadlineMs: number
}

/** Encode the reply frame of a refusal. */
const refuse = (reply: unknown): Uint8Array => encodeNetwork(reply)

/**
 * Create the server that answers one request frame with one reply frame (wire protocol §4, §5, §18). It never rejects
 * and always answers: each failed check has a reply, and so has each error of a handler.
 */
export function createRequestServer(
  settings: RequestServerSettings,
): (frame: Uint8Array) => Promise<Uint8Array> {
  const { log } = settings
  const details = component(log, 'master')
  const refusedVersions = new Set<string>()
  const open = createRequestOpener(settings)
  const inTime = (work: Promise<unknown>) =>
    withTimeout(work, settings.deadlineMs, () => new Error(`no answer within ${settings.deadlineMs} ms`))

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

  /** Log once per id that a peer is too old, and how to admit it. */
  function reportVersion(envelope: ClearEnvelope | AesEnvelope): void {
    const id = envelope.enc === 'clear' ? envelope.load.id : envelope.id
    const who = typeof id === 'string' && isMinionId(id) ? id : 'a peer without a valid id'
    if (refusedVersions.has(who) || refusedVersions.size > 10_000) return
    refusedVersions.add(who)
    log.warn(
      `Refused ${who}: it uses protocol generation ${envelope.version}, but minimum_auth_version is ` +
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
      return encodeNetwork(await inTime(handler(load, via)))
    } catch (error) {
      log.error(`The clear command ${cmd} failed: ${messageOf(error)}`)
      return refuse(refusals.exception)
    }
  }

  async function answerEncrypted(envelope: AesEnvelope): Promise<Uint8Array> {
    try {
      const opened = await open(envelope)
      return 'reply' in opened ? refuse(opened.reply) : await run(opened)
    } catch (error) {
      log.error(`A request could not be decrypted or read: ${messageOf(error)}`)
      return refuse(refusals.badLoad)
    }
  }

  async function run({ load, key, sender }: OpenedRequest): Promise<Uint8Array> {
    const { cmd } = load
    if (typeof cmd !== 'string') return refuse(refusals.exception)
    const nonce = sender.version >= 2 ? asText(load.nonce, 128) : undefined
    const result = await perform(cmd, load, sender)
    if (result instanceof PlainReply) return encodeNetwork(result.value)
    return key.encrypt(encodeNetworkParts(result ?? null), nonce, networkBytesHead)
  }

  async function perform(cmd: string, load: Record<string, unknown>, sender: Sender): Promise<unknown> {
    details.trace('AES payload received with command {cmd}', { cmd })
    const handler = settings.encrypted.get(cmd)
    if (!handler) return {}
    try {
      return await inTime(handler(load, sender))
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

/** Thrown by a handler that must not acknowledge, so that the sender retries. */
export class NotAcknowledged extends Error {}
