import type { Log } from '../author/context.ts'
import { encodeNetwork } from '../codec/index.ts'
import type { PrivateKey, PublicKey, SymmetricKey } from '../crypto/index.ts'
import { component } from '../log/component.ts'
import { GENERATION_3, refusals } from '../wire/envelope.ts'
import {
  type BadSignIn,
  makeAcceptance,
  packSignedReply,
  packUnsignedReply,
  readSignIn,
  type SignInRequest,
  type SignInRet,
} from '../wire/sign-in.ts'

/** The decision about an offered key (wire protocol §6.2). */
export type SignInDecision =
  | {
      readonly verdict: 'accepted'
      readonly key: PublicKey
      /** Whether it was filed just now. */
      readonly isNew: boolean
    }
  | {
      readonly verdict: 'pending' | 'rejected' | 'denied' | 'full' | 'damaged' | 'invalid'
      /** The state under which the key was filed just now, if it was. */
      readonly filed?: string
      /** The reason why the join token was refused. */
      readonly join?: string
    }

type Accepted = Extract<SignInDecision, { verdict: 'accepted' }>
type Refused = Exclude<SignInDecision, Accepted>

export interface SignInServerSettings {
  /** Name of this master, if several serve a minion over one connection. */
  readonly name?: string | undefined
  readonly masterKey: PrivateKey
  /** Signature of the public key text under the separate signing key (`master_sign_pubkey`). */
  pubSignature(algorithms: SignInRequest['algorithms']): string | undefined
  readonly publishPort: number
  /** Return the AES key for a minion that was just accepted. */
  aesKey(id: string): SymmetricKey
  /** Return the session key for a minion that was just accepted with this key. */
  sessionKey(id: string, key: PublicKey): Promise<SymmetricKey>
  /** Decide about the key and file it. */
  decide(request: SignInRequest): Promise<SignInDecision>
  /** Whether to refuse the sign-in because the minion spoke a higher version before. */
  refusesVersion(request: SignInRequest, version: number): Promise<boolean>
  announce(event: { result: boolean | string; act?: string; id: string; pub: string; join?: string }): void
  readonly log: Log
}

const verdicts: Record<Refused['verdict'], SignInRet> = {
  pending: true,
  rejected: false,
  denied: false,
  invalid: false,
  full: 'full',
  damaged: true, // with which all minions ask again, and with no other answer
}

const acts: Record<SignInDecision['verdict'], string | undefined> = {
  accepted: 'accept',
  pending: 'pend',
  rejected: 'reject',
  denied: 'denied',
  full: 'full',
  damaged: undefined,
  invalid: undefined,
}

/** Log messages of the decisions, in Salt's words. */
const sentences: Record<SignInDecision['verdict'], (id: string) => string> = {
  accepted: (id) => `Authentication accepted from ${id}`,
  pending: (id) =>
    `Authentication failed from host ${id}, the key is in pending and needs to be accepted with salt-key -a ${id}`,
  rejected: (id) => `Public key rejected for ${id}. Key is present in rejection key dir.`,
  denied: (id) => `Authentication failed from host ${id}: another key is accepted for that id.`,
  full: (id) => `Too many minions connected (max_minions). Rejecting connection from id ${id}`,
  damaged: (id) => `Authentication failed from host ${id}: the key that is filed for it cannot be read.`,
  invalid: (id) => `Authentication request from invalid id ${id}`,
}

/** Create the handler of `_auth` (wire protocol §6). Algorithms are checked before anything is decided or stored. */
export function createSignInServer(
  settings: SignInServerSettings,
): (load: Record<string, unknown>, version: number) => Promise<Uint8Array> {
  const { masterKey } = settings
  const log = component(settings.log, 'channel.server')
  const sealedDigest = sealerOf(masterKey)

  return async (load, version) => {
    const request = readSignIn(load)
    if ('wrong' in request) return refuseUnreadable(request)
    if (await settings.refusesVersion(request, version)) return encodeNetwork(refusals.badLoad)
    const { id } = request
    log.info(`Authentication request from ${id}`)
    const decision = await settings.decide(request)
    log.info(sentences[decision.verdict](id))
    announce(request, decision)
    const inner =
      decision.verdict === 'accepted' ? await accept(request, decision, version) : refusal(request, decision)
    return packSignedReply(inner, masterKey, request.algorithms)
  }

  function refuseUnreadable({ wrong, reason }: BadSignIn): Uint8Array {
    log.debug(`Refused a sign-in: ${reason}`)
    return wrong === 'load' ? encodeNetwork(refusals.badLoad) : packUnsignedReply(wrong)
  }

  async function accept(request: SignInRequest, { key, isNew }: Accepted, version: number) {
    const { encryption } = request.algorithms
    const aes = settings.aesKey(request.id)
    const hide = (text: string) => key.encrypt(Buffer.from(text), encryption)
    const token = request.token && masterKey.decrypt(request.token, encryption)
    const session = version >= GENERATION_3 ? await settings.sessionKey(request.id, key) : undefined
    return makeAcceptance(
      {
        pubKey: masterKey.publicKey.pem,
        publishPort: settings.publishPort,
        pubSig: settings.pubSignature(request.algorithms),
        ...(token && token.byteLength <= 190 && { token: key.encrypt(token, encryption) }),
        aes: hide(aes.text),
        ...(session && { session: hide(session.text), master: settings.name }),
        sig: sealedDigest(aes),
        isNew,
      },
      request.nonce,
    )
  }

  /** Announce the decision as Salt's masters do: without `act` for a key that had been rejected before (§12). */
  function announce({ id, pub }: SignInRequest, decision: SignInDecision): void {
    const { verdict } = decision
    const join = verdict === 'accepted' ? undefined : decision.join
    if (verdict === 'invalid') return
    const act = verdict === 'rejected' && !decision.filed ? undefined : acts[verdict]
    settings.announce({
      result: verdict === 'accepted' || verdict === 'pending',
      ...(act && { act }),
      id,
      pub,
      ...(join && { join }),
    })
  }
}

/** Return the inner map for a key that is not accepted. */
function refusal({ nonce }: SignInRequest, { verdict, join }: Refused): Record<string, unknown> {
  return { ret: verdicts[verdict], nonce, join, ...(verdict === 'damaged' && { damaged: true }) }
}

/**
 * Return a function that seals the digest of an AES key, which proves that it is the master's. Cached until the key
 * rotates.
 */
function sealerOf(masterKey: PrivateKey): (aes: SymmetricKey) => Buffer {
  const sealed = new WeakMap<SymmetricKey, Buffer>()
  return (aes) => {
    const seal = sealed.get(aes) ?? masterKey.seal(Buffer.from(aes.digest()))
    sealed.set(aes, seal)
    return seal
  }
}
