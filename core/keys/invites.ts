import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { type PublicKey, secretsEqual } from '../crypto/index.ts'
import { fnmatch } from '../dialect/fnmatch.ts'
import { keysUnder, openStore, type Store, type StoreKey, type StoreOptions } from '../store/index.ts'
import {
  inviteIdOf,
  type JoinClaim,
  type JoinRefusal,
  joinProof,
  joinTokenText,
  newJoinToken,
  verifierOf,
} from './join-token.ts'

/** Proof of a minion that it holds a join token. */
export interface JoinProof extends Omit<JoinClaim, 'id'> {
  readonly invite: string
  readonly proof: string
}

export type JoinAnswer = { readonly state: 'good'; readonly invite: string } | { readonly state: JoinRefusal }

/** An invitation without its verifier. Times are in milliseconds since 1970. */
export interface Invite {
  readonly id: string
  /** Shell patterns, separated by commas. */
  readonly match: string
  /** How many more minions may use it. */
  readonly left: number
  readonly made: number
  readonly expires: number
  /** The user who created it. */
  readonly user: string
}

interface StoredInvite extends Omit<Invite, 'id'> {
  readonly verifier: string
}

/**
 * How many invitations are stored. Used and expired ones are kept as long as there is room, so that a late minion gets
 * the reason; age is not a criterion, since the clock may be wrong.
 */
const MAX_STORED = 1000

/**
 * The open invitations (`salt-key --invite`) in `pki_dir`, shared by all workers. Only a hash of each token is
 * stored, which checks proofs. Each use is a transaction, so no more than `uses` minions get in, however many come at
 * once.
 */
export class Invites {
  readonly #path: string
  readonly #clock: Clock
  readonly #options: StoreOptions
  #store: Store | undefined

  constructor(pkiDir: string, { clock = systemClock, ...options }: StoreOptions & { clock?: Clock } = {}) {
    this.#path = join(pkiDir, 'invites.mdb')
    this.#clock = clock
    this.#options = options
  }

  /** Create an invitation and return its token, which is not stored. */
  async make(
    { match, uses, ttlMs, user }: { match: string; uses: number; ttlMs: number; user: string },
    master: PublicKey,
  ): Promise<{ token: string; invite: Invite }> {
    const token = newJoinToken(master)
    const made = this.#clock.now()
    const invite = { match, left: uses, made, expires: made + ttlMs, user }
    await this.#open().change((records) => {
      for (const key of prunable(records.entries(keysUnder('invite')), made)) records.remove(key)
      records.put(['invite', inviteIdOf(token.secret)], { ...invite, verifier: verifierOf(token.secret) })
    })
    return { token: joinTokenText(token), invite: { id: inviteIdOf(token.secret), ...invite } }
  }

  /** List the invitations that can still be used, the one that expires first at the front. */
  list(): Invite[] {
    if (!this.#exists()) return []
    const all = Array.from(this.#open().entries(keysUnder('invite')), ({ key, value }) => {
      const { verifier: _, ...invite } = value as unknown as StoredInvite
      return { id: String(key[1]), ...invite }
    })
    const now = this.#clock.now()
    return all.filter(({ left, expires }) => left > 0 && expires > now).sort((a, b) => a.expires - b.expires)
  }

  /** Revoke an open invitation; undefined if there is none with this id. */
  async revoke(id: string): Promise<Invite | undefined> {
    const invite = this.list().find((each) => each.id === id)
    if (invite) await this.#open().remove(['invite', id])
    return invite
  }

  /** Use the invitation if the proof is right. Only the token's holder gets the reason of a refusal. */
  async redeem({ invite: name, proof, ...claim }: JoinProof, id: string): Promise<JoinAnswer> {
    const stored = this.#exists() ? this.#open().get(['invite', name]) : undefined
    const { verifier = '' } = (stored ?? {}) as Partial<StoredInvite>
    const proven = secretsEqual(proof, joinProof(verifier, { id, ...claim }))
    if (!stored || !proven) return { state: 'unknown' } // an unproven claim causes no writes
    return this.#open().change((records) => {
      const invite = records.get(['invite', name]) as StoredInvite | undefined
      const state = this.#stateOf(invite, id)
      if (invite && state === 'good') records.put(['invite', name], { ...invite, left: invite.left - 1 })
      return state === 'good' ? { state, invite: name } : { state }
    })
  }

  #stateOf(invite: StoredInvite | undefined, id: string): JoinAnswer['state'] {
    if (!invite) return 'unknown'
    if (invite.left <= 0) return 'used'
    if (invite.expires <= this.#clock.now()) return 'expired'
    return invite.match.split(',').some((pattern) => fnmatch(id, pattern)) ? 'good' : 'mismatch'
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }

  /** Whether there is a store: a proof sent to a master without invitations creates no file. */
  #exists(): boolean {
    return this.#store !== undefined || existsSync(this.#path)
  }

  #open(): Store {
    this.#store ??= openStore(this.#path, this.#options)
    return this.#store
  }
}

/** Return the keys of invitations to remove when there are too many: the oldest of those that can no longer be used. */
function prunable(
  entries: Iterable<{ readonly key: StoreKey; readonly value: unknown }>,
  now: number,
): StoreKey[] {
  const all = Array.from(entries, ({ key, value }) => ({ key, invite: value as unknown as StoredInvite }))
  return all
    .filter(({ invite: { left, expires } }) => left <= 0 || expires <= now)
    .sort((a, b) => a.invite.made - b.invite.made)
    .slice(0, Math.max(0, all.length - MAX_STORED))
    .map(({ key }) => key)
}
