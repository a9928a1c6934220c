/** The other side of a master's request channel, honest or not: every field of a request can be given or left out. */
import { decode, encodeNetwork } from '../../core/codec/index.ts'
import { newNonce, type PrivateKey, SymmetricKey } from '../../core/crypto/index.ts'
import { packAes, packClear } from '../../core/wire/envelope.ts'
import { makeSignIn } from '../../core/wire/sign-in.ts'
import { keyPair } from './key-pairs.ts'

export type Ask = (frame: Uint8Array) => Promise<Uint8Array>

type Load = Readonly<Record<string, unknown>>

const ALGORITHMS = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const

/** What of a sealed request is not as an honest minion would make it. */
export interface Forgery {
  readonly key?: SymmetricKey
  readonly outerId?: string
  /** Members that replace those of the load; undefined leaves one out. */
  readonly load?: Load
  readonly version?: number
}

/** A sealed request, and how to read the answer. */
export interface Sealed {
  readonly frame: Buffer
  /** The decrypted answer; `refused` for one that is not encrypted. */
  open(reply: Uint8Array): unknown
}

export const refused = (reply: unknown) => ({ refused: reply })

export class Peer {
  readonly id: string
  readonly key: PrivateKey
  readonly token: Buffer
  aes!: SymmetricKey
  session!: SymmetricKey

  /** `owner` names the key pair, by default that of the id. */
  static async named(id: string, owner = id): Promise<Peer> {
    return new Peer(id, await keyPair(owner))
  }

  private constructor(id: string, key: PrivateKey) {
    this.id = id
    this.key = key
    this.token = key.seal(Buffer.from('salt'))
  }

  signInFrame(load: Load = {}, version = 3): Buffer {
    const pub = this.key.publicKey.pem
    const honest = makeSignIn({ id: this.id, nonce: newNonce(), pub, algorithms: ALGORITHMS })
    return packClear({ ...honest, ...load }, version)
  }

  /** Sign in, and keep the keys. Gives the inner map of the reply. */
  async signIn(ask: Ask, version = 3): Promise<Record<string, unknown>> {
    const reply = decode(await ask(this.signInFrame({}, version))) as { load: Uint8Array }
    const inner = decode(Buffer.from(reply.load)) as Record<string, unknown>
    const keyFrom = (value: unknown) =>
      SymmetricKey.parse(String(this.key.decrypt(Buffer.from(value as Uint8Array), ALGORITHMS.encryption)))
    if (inner.aes) this.aes = keyFrom(inner.aes)
    if (inner.session) this.session = keyFrom(inner.session)
    return inner
  }

  /** A request of generation 3. */
  seal(
    load: Load,
    { key = this.session, outerId = this.id, load: changes, version = 3 }: Forgery = {},
  ): Sealed {
    const nonce = newNonce()
    const full = {
      ...load,
      nonce,
      ts: Math.floor(Date.now() / 1000),
      tok: this.token,
      id: this.id,
      ...changes,
    }
    return sealed({ full, key, id: outerId, version })
  }

  /** A request of generation 2, with the AES key; `id` and `tok` as the command has them. */
  sealOld(
    load: Load,
    { key = this.aes, outerId = this.id, load: changes, version = 2 }: Forgery = {},
  ): Sealed {
    return sealed({ full: { ...load, nonce: newNonce(), ...changes }, key, id: outerId, version })
  }
}

function sealed({
  full,
  key,
  id,
  version,
}: {
  full: Load
  key: SymmetricKey
  id: string
  version: number
}): Sealed {
  const frame = packAes({ load: key.encrypt(encodeNetwork(full)), version, id, algorithms: ALGORITHMS })
  return { frame, open: (reply) => openReply(reply, key, full.nonce) }
}

/** Take an answer apart: decrypted, or `refused` as it is. */
export function openReply(reply: Uint8Array, key: SymmetricKey, nonce: unknown): unknown {
  const outer = decode(reply)
  if (!(outer instanceof Uint8Array)) return refused(outer)
  const message = key.decrypt(outer, typeof nonce === 'string' ? nonce : undefined)
  return message ? decode(message) : refused('(does not open)')
}
