import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { decode, encodeNetworkParts } from '../codec/index.ts'
import { newNonce, type PrivateKey, SymmetricKey } from '../crypto/index.ts'
import type { RequestClient } from '../transport/contract.ts'
import { asBytes } from '../wire/bytes.ts'
import { type Algorithms, packAes } from '../wire/envelope.ts'
import { MAX_CONTENT_BYTES, tooLargeText } from '../wire/message-size.ts'
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

/** Encrypted requests of a minion (wire protocol §4, §7). */
export interface RequestChannel {
  /**
   * Send a request and return the decrypted answer. If the master cannot decrypt it, sign in again and retry once. `to` names one of
   * several masters.
   */
  request(load: Readonly<Record<string, unknown>>, timeoutMs: number, to?: string): Promise<unknown>
  /** Request the pillar, whose reply has a format of its own (wire protocol §7.3). */
  pillar(load: Readonly<Record<string, unknown>>, timeoutMs: number): Promise<Record<string, unknown>>
}

/** Marks a reply that cannot be decrypted: the master restarted, or its keys rotated. */
const undecryptable = Symbol('undecryptable')

export function createRequestChannel(settings: RequestChannelSettings): RequestChannel {
  const { client, id, key, algorithms } = settings
  const token = makeToken(key)

  /** Encrypt a load and read the reply with `open`. After a refusal, sign in again and retry exactly once. */
  async function ask<T>(
    load: Readonly<Record<string, unknown>>,
    { timeoutMs, to }: { readonly timeoutMs: number; readonly to?: string | undefined },
    open: (reply: Uint8Array, credentials: SignInKeys, nonce: string) => T | typeof undecryptable,
  ): Promise<T> {
    let credentials = await settings.credentials()
    for (let attempt = 1; ; attempt++) {
      const nonce = newNonce()
      const reply = await client.request(seal(load, credentials, nonce), timeoutMs, to)
      const value = open(reply, credentials, nonce)
      if (value !== undecryptable) return value
      if (attempt === 2) throw refused(load.cmd)
      credentials = await settings.renew(credentials)
    }
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
        const sealed = asBytes(decode(reply))
        const message = sealed && request.decrypt(sealed, nonce)
        return message ? decode(message) : undecryptable
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
