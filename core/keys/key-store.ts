import { SaltError } from '../base/errors.ts'
import { isMinionId, type MinionId, parseMinionId } from '../base/minion-id.ts'
import { PublicKey } from '../crypto/index.ts'
import { fnmatch } from '../dialect/fnmatch.ts'
import { isApiClient } from './api-clients.ts'
import { decideAboutKey, type FiledKey, type KeyDecision, type KeyVerdict } from './decision.ts'
import type { JoinAnswer } from './invites.ts'
import { KeyFileStore, type KeyState, keyFileDamage, keyStates } from './key-files.ts'
import { KeyPlaces } from './key-places.ts'
import type { KeyOffer, KeyPolicy, SignedBy } from './policy.ts'

/** The result of offering a key. */
export type OfferResult = {
  /** A clause for the log. */
  readonly reason: string
  /** The state the offered key was just filed in; undefined if nothing changed on disk. */
  readonly filed?: KeyState
  /** The changes on disk; empty when a known minion returns. */
  readonly changes: readonly KeyChange[]
  /** The option or invitation that accepted the key without a person. */
  readonly by?: SignedBy | undefined
  /** The result of checking the join token, if there was one to check. */
  readonly join?: JoinAnswer | undefined
} & (
  | { readonly verdict: 'accepted'; readonly key: PublicKey }
  | { readonly verdict: Exclude<KeyVerdict, 'accepted'> | 'invalid' }
)

/** A change of one key. */
export interface KeyChange {
  readonly id: MinionId
  /** Undefined for a new key. */
  readonly from?: KeyState
  /** Undefined for a deleted key. */
  readonly to?: KeyState
  readonly pem: string
  /** Why the change was refused. */
  readonly refused?: string
}

/** Ids by the state of their key. */
export type KeySelection = Readonly<Partial<Record<KeyState, readonly string[]>>>

/** Minions by shell pattern, by exact ids, or by exact ids and states. */
export type KeyMatch = string | readonly string[] | KeySelection

/** Attempts to file a key while other processes file keys for the same id. One retry is normally enough. */
const MAX_ATTEMPTS = 20
const MAX_CACHED_KEYS = 5000
/** How long a key is used before its own file is looked at again, though no file of the folder was added, removed or replaced. */
const LOOK_AGAIN_MS = 1000

interface AcceptedKey {
  readonly stamp: string
  readonly key: PublicKey | undefined
  /** Number of the changes at the last look at the file, and when that was. */
  changes: number
  lookedAt: number
}

/**
 * The keys of minions and their states (wire protocol §6.2, §14.2). The files are authoritative and every step is
 * atomic, so several workers and `salt-key` may act at once.
 */
export class KeyStore {
  readonly #files: KeyFileStore
  readonly #apiClients: readonly string[]
  readonly #accepted = new Map<MinionId, AcceptedKey>()
  readonly #pending: KeyPlaces
  readonly #rejected: KeyPlaces

  /** `apiClients`: shell patterns of ids that belong to API clients instead of minions. */
  constructor(pkiDir: string, apiClients: readonly string[] = []) {
    this.#files = new KeyFileStore(pkiDir)
    this.#pending = new KeyPlaces(this.#files, 'pending')
    this.#rejected = new KeyPlaces(this.#files, 'rejected')
    this.#apiClients = apiClients
  }

  /** Return the state of an id's effective key; undefined if there is no key. Denied keys are separate: see `list`. */
  async state(id: string): Promise<KeyState | undefined> {
    return (await this.read(id))?.state
  }

  /** Read the effective key of an id, or the one in the given state. */
  async read(id: string, state?: KeyState): Promise<{ state: KeyState; pem: string } | undefined> {
    if (!isMinionId(id)) return undefined
    for (const candidate of state ? [state] : keyStates) {
      const pem = await this.#files.read(candidate, id)
      if (pem !== undefined) return { state: candidate, pem }
    }
    return undefined
  }

  /** List ids, sorted. */
  list(state: KeyState): Promise<MinionId[]>
  list(): Promise<Record<KeyState, MinionId[]>>
  async list(state?: KeyState): Promise<MinionId[] | Record<KeyState, MinionId[]>> {
    if (state) return this.#files.list(state)
    const lists = keyStates.map(async (each) => [each, await this.#files.list(each)])
    return Object.fromEntries(await Promise.all(lists))
  }

  /** Return a clause about each file of an accepted or pending key that is damaged: with it, the minion cannot sign in. */
  async damages(): Promise<string[]> {
    const found: string[] = []
    for (const state of ['accepted', 'pending'] as const)
      for (const id of await this.#files.list(state)) {
        const pem = await this.#files.read(state, id)
        if (pem !== undefined && keyFileDamage(this.#files.path(state, id), pem))
          found.push(this.#damage(state, id, pem))
      }
    return found
  }

  /** List the minions with an accepted key, sorted, without API clients. */
  async minions(): Promise<MinionId[]> {
    const ids = await this.#files.list('accepted')
    return this.#apiClients.length === 0 ? ids : ids.filter((id) => !isApiClient(id, this.#apiClients))
  }

  /** Return a minion's accepted key. Synchronous and cheap, since every request needs it. */
  accepted(id: string): PublicKey | undefined {
    if (!isMinionId(id)) return undefined
    const known = this.#accepted.get(id)
    const changes = this.#files.changes()
    const lookedAt = performance.now()
    if (known?.changes === changes && lookedAt - known.lookedAt < LOOK_AGAIN_MS) return known.key
    if (this.#files.stamp('rejected', id)) return undefined
    const stamp = this.#files.stamp('accepted', id)
    if (!stamp) return undefined
    if (known?.stamp === stamp) {
      Object.assign(known, { changes, lookedAt })
      return known.key
    }
    const pem = this.#files.readSync('accepted', id)
    const key = pem === undefined ? undefined : parse(pem)
    if (this.#accepted.size >= MAX_CACHED_KEYS) this.#accepted.clear()
    this.#accepted.set(id, { stamp, key, changes, lookedAt })
    return key
  }

  /** Return the time at which the key of a minion was accepted, in milliseconds since 1970; undefined if it is not. */
  acceptedSince(id: string): number | undefined {
    return isMinionId(id) ? this.#files.since('accepted', id) : undefined
  }

  /** Decide about the key of a sign-in (wire protocol §6.2) and file it. */
  async offer(
    id: string,
    pem: string,
    policy: KeyPolicy,
    details: Omit<KeyOffer, 'id'> = {},
  ): Promise<OfferResult> {
    if (!isMinionId(id)) return { verdict: 'invalid', changes: [], reason: 'its id is not valid' }
    const accepted = this.accepted(id)
    const key = accepted?.pem === pem ? accepted : parse(pem)
    if (!key) return { verdict: 'invalid', changes: [], reason: 'it offered a key that cannot be read' }
    const facts = await this.#facts({ id, ...details }, policy)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const filed = key === accepted ? ACCEPTED : this.#filed(id, key)
      const decision = await decideAboutKey({ ...facts, filed })
      const changes = await this.#carryOut(id, pem, decision, policy.openMode)
      if (changes) return outcomeOf(decision, key, changes)
    }
    throw new SaltError(
      'KEY_REJECTED',
      `The key of ${id} could not be stored: other processes keep changing it. Try again.`,
      { id },
    )
  }

  /** Accept pending keys, and those in other states if requested. A denied key replaces all others of its id. */
  async accept(
    match: KeyMatch,
    { includeRejected = false, includeDenied = false } = {},
  ): Promise<KeyChange[]> {
    // Denied keys come first, so that a key they replace is never accepted in between.
    const from: KeyState[] = includeDenied ? ['denied', 'pending'] : ['pending']
    if (includeRejected) from.push('rejected')
    return this.#each(match, from, (id, state) =>
      state === 'denied' ? this.#acceptDenied(id) : this.#acceptOne(id, state),
    )
  }

  /** File a key as accepted for an id without a key; with `force`, replace any others. Undefined if the id has a key. */
  async add(id: MinionId, pem: string, force = false): Promise<KeyChange[] | undefined> {
    if (!force) {
      if ((await this.state(id)) || !(await this.#files.create('accepted', id, pem))) return undefined
      return [{ id, to: 'accepted', pem }]
    }
    const before = await this.#files.read('accepted', id)
    await this.#files.replace('accepted', id, pem)
    const replaced = await this.#removeOthers(id, ['pending', 'rejected', 'denied'])
    return [
      ...(before === undefined ? [] : [{ id, from: 'accepted', pem: before } as const]),
      ...replaced,
      { id, to: 'accepted', pem },
    ]
  }

  async reject(
    match: KeyMatch,
    { includeAccepted = false, includeDenied = false } = {},
  ): Promise<KeyChange[]> {
    const from: KeyState[] = ['pending']
    if (includeAccepted) from.push('accepted')
    if (includeDenied) from.push('denied')
    return this.#each(match, from, (id, state) => this.#rejectOne(id, state))
  }

  /** Delete keys in any state, or in the given states only. */
  async remove(match: KeyMatch, states: readonly KeyState[] = keyStates): Promise<KeyChange[]> {
    return this.#each(match, states, (id, from) => this.#removeOne(id, from))
  }

  async #each(
    match: KeyMatch,
    states: readonly KeyState[],
    change: (id: MinionId, from: KeyState) => Promise<readonly KeyChange[]>,
  ): Promise<KeyChange[]> {
    const changes: KeyChange[] = []
    for (const state of states) {
      for (const id of await this.#matching(match, state)) changes.push(...(await change(id, state)))
    }
    return changes
  }

  async #matching(match: KeyMatch, state: KeyState): Promise<MinionId[]> {
    if (typeof match === 'string') {
      const ids = await this.#files.list(state)
      return ids.filter((id) => fnmatch(id, match))
    }
    const ids = isList(match) ? match : (match[state] ?? [])
    return ids.map(parseMinionId)
  }

  async #acceptOne(id: MinionId, from: KeyState): Promise<KeyChange[]> {
    const pem = await this.#files.read(from, id)
    if (pem === undefined) return []
    const key = parse(pem)
    if (!key) return [{ id, from, pem, refused: unreadable(id) }]
    if (!(await this.#files.create('accepted', id, pem)) && !this.#isAccepted(id, key)) {
      return [{ id, from, pem, refused: `Another key is accepted for ${id}; delete that one first.` }]
    }
    await this.#files.remove(from, id)
    return [{ id, from, to: 'accepted', pem }]
  }

  async #acceptDenied(id: MinionId): Promise<KeyChange[]> {
    const pem = await this.#files.read('denied', id)
    if (pem === undefined) return []
    if (!parse(pem)) return [{ id, from: 'denied', pem, refused: unreadable(id) }]
    const before = await this.#files.read('accepted', id)
    await this.#files.replace('accepted', id, pem)
    const replaced = await this.#removeOthers(id, ['pending', 'rejected'])
    await this.#files.remove('denied', id)
    return [
      ...(before === undefined ? [] : [{ id, from: 'accepted', pem: before } as const]),
      ...replaced,
      { id, from: 'denied', to: 'accepted', pem },
    ]
  }

  async #removeOthers(id: MinionId, states: readonly KeyState[]): Promise<KeyChange[]> {
    return (await Promise.all(states.map((state) => this.#removeOne(id, state)))).flat()
  }

  async #removeOne(id: MinionId, from: KeyState): Promise<KeyChange[]> {
    const pem = await this.#files.read(from, id)
    return pem !== undefined && (await this.#files.remove(from, id)) ? [{ id, from, pem }] : []
  }

  async #rejectOne(id: MinionId, from: KeyState): Promise<KeyChange[]> {
    const pem = await this.#files.read(from, id)
    if (pem === undefined) return []
    await this.#files.replace('rejected', id, pem)
    await this.#files.remove(from, id)
    return [{ id, from, to: 'rejected', pem }]
  }

  #isAccepted(id: MinionId, key: PublicKey): boolean {
    const pem = this.#files.readSync('accepted', id)
    return pem !== undefined && parse(pem)?.equals(key) === true
  }

  async #facts(offer: KeyOffer, policy: KeyPolicy) {
    return {
      full: await policy.full(offer),
      openMode: policy.openMode,
      autoReject: once(() => policy.autoReject(offer)),
      autoSign: once(() => policy.autoSign(offer)),
      join: once(() => policy.join(offer)),
      pendingFull: once(() => this.#pending.areTaken(policy.maxPending)),
      rejectedFull: once(() => this.#rejected.areTaken(policy.maxPending)),
    }
  }

  /** Return how a key is filed. Synchronous: three small files are read faster than three reads are handed to other threads. */
  #filed(id: MinionId, key: PublicKey): FiledKey | undefined {
    for (const state of ['rejected', 'accepted', 'pending'] as const) {
      const pem = this.#files.readSync(state, id)
      if (pem === undefined) continue
      const filed = pem === key.pem ? key : parse(pem)
      return filed
        ? { state, same: filed.equals(key) }
        : { state, same: false, damage: this.#damage(state, id, pem) }
    }
    return undefined
  }

  #damage(state: KeyState, id: MinionId, pem: string): string {
    const path = this.#files.path(state, id)
    const what = keyFileDamage(path, pem) ?? `${path} holds no RSA public key that can be used`
    return `${what}. Restore it from a backup, or run salt-key -d ${id} and accept the key of the minion again`
  }

  /** Apply the decision and return the changes. Undefined if another process was faster and the decision is outdated. */
  async #carryOut(
    id: MinionId,
    pem: string,
    { file, leave }: KeyDecision,
    openMode: boolean,
  ): Promise<KeyChange[] | undefined> {
    if (!file) return []
    const change: KeyChange = { id, ...(leave && { from: leave }), to: file, pem }
    if (file === 'denied' || (file === 'accepted' && openMode)) {
      const replaced = await this.#replaceIfOther(file, id, pem)
      if (leave) await this.#files.remove(leave, id)
      return replaced || leave ? [change] : []
    }
    if (!(await this.#files.create(file, id, pem))) return undefined
    if (leave) await this.#files.remove(leave, id)
    return [change]
  }

  /** Replace a key file if it differs, so that a minion that keeps trying causes no writes. */
  async #replaceIfOther(state: KeyState, id: MinionId, pem: string): Promise<boolean> {
    if ((await this.#files.read(state, id)) === pem) return false
    await this.#files.replace(state, id, pem)
    return true
  }
}

function parse(pem: string): PublicKey | undefined {
  try {
    return PublicKey.parse(pem)
  } catch {
    return undefined
  }
}

/** The filed key of a minion that offers the one that is accepted. */
const ACCEPTED = { state: 'accepted', same: true } as const

const unreadable = (id: MinionId): string =>
  `The key of ${id} cannot be read as an RSA public key; delete it.`

const isList = (match: readonly string[] | KeySelection): match is readonly string[] => Array.isArray(match)

function outcomeOf(decision: KeyDecision, key: PublicKey, changes: readonly KeyChange[]): OfferResult {
  const { verdict, reason, file, by, join } = decision
  const common = { reason, changes, by, join, ...(file && changes.length > 0 && { filed: file }) }
  return verdict === 'accepted' ? { ...common, verdict, key } : { ...common, verdict }
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
