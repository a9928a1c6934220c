import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { fnmatch } from '../base/fnmatch.ts'
import { type PublicKey, secretsEqual } from '../crypto/index.ts'
import { openStore, type Store, type StoreKey, type StoreOptions, under } from '../store/index.ts'
import {
  inviteIdOf,
  type JoinClaim,
  type JoinRefusal,
  joinProof,
  joinTokenText,
  newJoinToken,
  verifierOf,
} from './join-token.ts'

/** What a minion shows to prove that it holds a join token. */
export interface JoinProof extends Omit<JoinClaim, 'id'> {
  readonly invite: string
  readonly proof: string
}

export type JoinAnswer = { readonly state: 'good'; readonly invite: string } | { readonly state: JoinRefusal }

/** An invitation, without what proves it. Times in milliseconds since 1970. */
export interface Invite {
  readonly id: string
  /** Shell patterns, separated by commas. */
  readonly match: string
  /** How many minions it is still good for. */
  readonly left: number
  readonly made: number
  readonly expires: number
  /** Who made it. */
  readonly user: string
}

interface StoredInvite extends Omit<Invite, 'id'> {
  readonly verifier: string
}

/** Used and expired ones are kept, up to so many with the open ones, so that a late minion is told why. By no clock: it may be wrong. */
const MOST_KEPT = 1000

/**
 * Open invitations (`salt-key --invite`), in `pki_dir`, shared by all workers. Of a token only a hash is kept, which
 * proofs are checked with; each use is a transaction, so of many minions that come at once no more than `uses` get in.
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

  /** Gives the token, which is not kept. */
  async make(
    { match, uses, ttlMs, user }: { match: string; uses: number; ttlMs: number; user: string },
    master: PublicKey,
  ): Promise<{ token: string; invite: Invite }> {
    const token = newJoinToken(master)
    const made = this.#clock.now()
    const invite = { match, left: uses, made, expires: made + ttlMs, user }
    await this.#open().change((records) => {
      for (const key of overdue(records.entries(under('invite')), made)) records.remove(key)
      records.put(['invite', inviteIdOf(token.secret)], { ...invite, verifier: verifierOf(token.secret) })
    })
    return { token: joinTokenText(token), invite: { id: inviteIdOf(token.secret), ...invite } }
  }

  /** Those that are still good for something; the one that ends first comes first. */
  list(): Invite[] {
    if (!this.#exists()) return []
    const all = Array.from(this.#open().entries(under('invite')), ({ key, value }) => {
      const { verifier: _, ...invite } = value as unknown as StoredInvite
      return { id: String(key[1]), ...invite }
    })
    const now = this.#clock.now()
    return all.filter(({ left, expires }) => left > 0 && expires > now).sort((a, b) => a.expires - b.expires)
  }

  /** Undefined if there is no open one of this id. */
  async revoke(id: string): Promise<Invite | undefined> {
    const invite = this.list().find((each) => each.id === id)
    if (invite) await this.#open().remove(['invite', id])
    return invite
  }

  /** Uses the invitation, if the proof is right. Why it is not good is told only to who has the token. */
  async redeem({ invite: name, proof, ...claim }: JoinProof, id: string): Promise<JoinAnswer> {
    const stored = this.#exists() ? this.#open().get(['invite', name]) : undefined
    const { verifier = '' } = (stored ?? {}) as Partial<StoredInvite>
    const proven = secretsEqual(proof, joinProof(verifier, { id, ...claim }))
    if (!stored || !proven) return { state: 'unknown' } // strangers cause no writing
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

  /** Whoever shows some proof to a master that has never invited anybody leaves no file. */
  #exists(): boolean {
    return this.#store !== undefined || existsSync(this.#path)
  }

  #open(): Store {
    this.#store ??= openStore(this.#path, this.#options)
    return this.#store
  }
}

/** What goes where there are too many: of those that are good for nothing more, the oldest. */
function overdue(
  entries: Iterable<{ readonly key: StoreKey; readonly value: unknown }>,
  now: number,
): StoreKey[] {
  const all = Array.from(entries, ({ key, value }) => ({ key, invite: value as unknown as StoredInvite }))
  return all
    .filter(({ invite: { left, expires } }) => left <= 0 || expires <= now)
    .sort((a, b) => a.invite.made - b.invite.made)
    .slice(0, Math.max(0, all.length - MOST_KEPT))
    .map(({ key }) => key)
}
