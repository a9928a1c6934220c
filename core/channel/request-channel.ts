import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { decode, decodeInPlace, encodeNetworkParts } from '../codec/index.ts'
import { newNonce, type PrivateKey, SymmetricKey } from '../crypto/index.ts'
import type { RequestClient } from '../transport/contract.ts'
import { asBytes } from '../wire/bytes.ts'
import { type Algorithms, packAes } from '../wire/envelope.ts'
import { MAX_CONTENT_BYTES, tooLargeText } from '../wire/message-size.ts'
import { sessionToMaster } from './session-to-master.ts'
import type { SignInKeys } from './sign-in-client.ts'
import { makeToken } from './token.ts'

export interface RequestChannelSettings {
  readonly client: RequestClient
  readonly id: string
  readonly key: PrivateKey
  readonly algorithms: Algorithms
  /** Present credentials; resolves once the minion is signed in. */
  credentials(): Promise<SignInKeys>
  /** Sign in again, unless that has happened since `stale` was handed out. */
  renew(stale: SignInKeys): Promise<SignInKeys>
  now(): number
}

/**
 * The name of the master that takes a request, where there are several. With `only`, no other master takes it; with `prefer`,
 * another one does if that master is down.
 */
export type Recipient = { readonly only: string } | { readonly prefer: string }

/** Only the named master takes the request; any master if there is no name. */
export const onlyMaster = (name: string | undefined): Recipient | undefined =>
  name === undefined ? undefined : { only: name }

/** The named master takes the request, or another one if that is down; any master if there is no name. */
export const preferredMaster = (name: string | undefined): Recipient | undefined =>
  name === undefined ? undefined : { prefer: name }

/** Encrypted requests of a minion (wire protocol §4, §7). */
export interface RequestChannel {
  /**
   * Send a request and return the decrypted answer. If the master cannot decrypt it, sign in again and retry once. Where there
   * are several masters, `to` selects the one that takes it; by default any does. Rejects with MASTER_GONE if the only master
   * that may take it is down.
   */
  request(load: Readonly<Record<string, unknown>>, timeoutMs: number, to?: Recipient): Promise<unknown>
  /** Request the pillar, whose reply has a format of its own (wire protocol §7.3). */
  pillar(load: Readonly<Record<string, unknown>>, timeoutMs: number): Promise<Record<string, unknown>>
}

const requestKey = ({ request, master }: SignInKeys, to: string | undefined): SymmetricKey =>
  master === undefined || to === undefined ? request : sessionToMaster(request, to)

/**
 * Resolves with the reply to a request; with undefined if the request was not sent because its master is down, and another one
 * may take it.
 */
async function unlessGone(
  sent: Promise<Uint8Array>,
  to: Recipient | undefined,
): Promise<Uint8Array | undefined> {
  try {
    return await sent
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'MASTER_GONE' || (to && 'only' in to)) throw error
    return undefined
  }
}

/** Marks a reply that cannot be decrypted: the master restarted, or its keys rotated. */
const undecryptable = Symbol('undecryptable')

export function createRequestChannel(settings: RequestChannelSettings): RequestChannel {
  const { client, id, key, algorithms } = settings
  const token = makeToken(key)

  /** Encrypt a load and read the reply with `open`. After a refusal, sign in again and retry exactly once. */
  async function ask<T>(
    load: Readonly<Record<string, unknown>>,
    { timeoutMs, to }: { readonly timeoutMs: number; readonly to?: Recipient | undefined },
    open: (reply: Uint8Array, credentials: SignInKeys, nonce: string) => T | typeof undecryptable,
  ): Promise<T> {
    let credentials = await settings.credentials()
    let until = performance.now() + timeoutMs
    for (let isRenewed = false; ; ) {
      const nonce = newNonce()
      const master = masterFor(credentials, to)
      const keys = { ...credentials, request: requestKey(credentials, master) }
      const reply = await unlessGone(
        client.request(seal(load, keys, nonce), until - performance.now(), master),
        to,
      )
      if (reply === undefined) {
        if (client.choose?.() === undefined) credentials = await settings.renew(credentials)
        continue
      }
      const value = open(reply, keys, nonce)
      if (value !== undecryptable) return value
      if (isRenewed) throw refused(load.cmd)
      isRenewed = true
      credentials = await settings.renew(credentials)
      until = performance.now() + timeoutMs
    }
  }

  /** Return the name of the master that takes a request; undefined where there is only one master. */
  function masterFor({ master }: SignInKeys, to: Recipient | undefined): string | undefined {
    if (to && 'only' in to) return to.only
    return client.choose?.(to?.prefer) ?? master
  }

  function seal(load: Readonly<Record<string, unknown>>, credentials: SignInKeys, nonce: string): Buffer {
    const { generation, request } = credentials
    const full =
      generation === 3
        ? { ...load, nonce, ts: Math.floor(settings.now() / 1000), tok: token, id }
        : { ...load, nonce, ...(needsToken.has(String(load.cmd)) && { tok: token }) }
    const parts = encodeNetworkParts(full)
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    if (bytes > MAX_CONTENT_BYTES)
      throw new SaltError(
        'MESSAGE_TOO_LARGE',
        tooLargeText(`The message ${String(load.cmd)}`, bytes, MAX_CONTENT_BYTES),
      )
    const sealed = request.encrypt(parts)
    return packAes({ load: sealed, version: generation, id, algorithms })
  }

  return {
    request: (load, timeoutMs, to) =>
      ask(load, { timeoutMs, to }, (reply, { request }, nonce) => {
        const sealed = asBytes(decodeInPlace(reply))
        const message = sealed && request.decrypt(sealed, nonce)
        return message ? decodeInPlace(message) : undecryptable
      }),

    pillar: (load, timeoutMs) =>
      ask(load, { timeoutMs }, (reply, { masterKey }, nonce) => {
        const outer = decode(reply)
        const wrapped = isRecord(outer) ? asBytes(outer.key) : undefined
        const sealed = isRecord(outer) ? asBytes(outer.pillar) : undefined
        if (!wrapped || !sealed) return undecryptable
        const text = key.decrypt(wrapped, algorithms.encryption)?.toString('latin1')
        const message = text && SymmetricKey.parse(text).decrypt(sealed)
        const signed = message ? decode(message) : undefined
        return readPillar(signed, wrapped, nonce, (data, signature) =>
          masterKey.verify(data, signature, algorithms.signing),
        )
      }),
  }
}

/** Commands whose generation 2 form carries the minion's token (wire protocol §7.2). */
const needsToken = new Set([
  '_minion_event',
  '_master_tops',
  '_mine',
  '_mine_get',
  '_mine_delete',
  '_mine_flush',
  '_file_recv',
  'minion_pub',
  'minion_publish',
  'pub_ret',
  'minion_runner',
  'revoke_auth',
])

/** Check that the pillar was made for this request by this master. */
function readPillar(
  signed: unknown,
  wrapped: Buffer,
  nonce: string,
  verify: (data: Buffer, signature: Buffer) => boolean,
): Record<string, unknown> {
  const data = isRecord(signed) ? asBytes(signed.data) : undefined
  const signature = isRecord(signed) ? asBytes(signed.sig) : undefined
  const inner = data && signature && verify(data, signature) ? decode(data) : undefined
  const sameKey = isRecord(inner) && asBytes(inner.key)?.equals(wrapped)
  if (!isRecord(inner) || !sameKey || inner.nonce !== nonce || !isRecord(inner.pillar)) {
    throw new SaltError(
      'AUTHENTICATION_FAILED',
      'The pillar was refused: it is not signed by the master for this request.',
    )
  }
  return inner.pillar
}

const refused = (cmd: unknown) =>
  new SaltError(
    'AUTHENTICATION_FAILED',
    `The master refused the request ${String(cmd)} twice, before and after signing in again.`,
  )
