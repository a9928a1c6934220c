import { SaltError } from '../base/errors.ts'
import { fnmatch } from '../base/fnmatch.ts'
import { isMinionId, type MinionId, parseMinionId } from '../base/minion-id.ts'
import { PublicKey } from '../crypto/index.ts'
import { isApiClient } from './api-clients.ts'
import { type Decision, decide, type Verdict } from './decision.ts'
import type { JoinAnswer } from './invites.ts'
import { KeyFiles, type KeyState, keyStates } from './key-files.ts'
import type { KeyPolicy, Offer, SignedBy } from './policy.ts'

/** What came of an offered key. */
export type Outcome = {
  /** A sentence for the log. */
  readonly reason: string
  /** Where the offered key was filed just now; undefined if nothing changed on disk. */
  readonly filed?: KeyState
  /** What is different on disk now; nothing when a minion only comes back. */
  readonly changes: readonly KeyChange[]
  /** What accepted it without a person. */
  readonly by?: SignedBy | undefined
  /** What its join token was good for, if it showed one that was looked at. */
  readonly join?: JoinAnswer | undefined
} & (
  | { readonly verdict: 'accepted'; readonly key: PublicKey }
  | { readonly verdict: Exclude<Verdict, 'accepted'> | 'invalid' }
)

/** What was done to one key. */
export interface KeyChange {
  readonly id: MinionId
  /** Undefined: it is new. */
  readonly from?: KeyState
  /** Undefined: deleted. */
  readonly to?: KeyState
  readonly pem: string
  /** Why nothing was done. */
  readonly refused?: string
}

/** Exactly these ids, by the state their key is in. */
export type KeySelection = Readonly<Partial<Record<KeyState, readonly string[]>>>

/** Minions by shell pattern, by exact ids, or by exact ids and states. */
export type KeyMatch = string | readonly string[] | KeySelection

/** Two processes that file a key for one id at once get in each other's way once; more is not expected. */
const ATTEMPTS = 20
const CACHED_KEYS = 5000
const COUNT_MS = 1000

/**
 * The keys of minions and what the master thinks of them (wire protocol §6.2, §14.2). Files are the truth, and every
 * step is atomic, so several workers and `salt-key` may act at once.
 */
export class KeyStore {
  readonly #files: KeyFiles
  readonly #apiClients: readonly string[]
  readonly #accepted = new Map<MinionId, { stamp: string; key: PublicKey | undefined }>()
  /** Pending keys, with those that are being filed. Counted anew at times, since others file and delete too. */
  #pending = 0
  #counting: Promise<void> | undefined
  #countedUntil = 0

  /** `apiClients`: shell patterns of ids that are no minions. */
  constructor(pkiDir: string, apiClients: readonly string[] = []) {
    this.#files = new KeyFiles(pkiDir)
    this.#apiClients = apiClients
  }

  /** The state that decides; undefined if there is no key. Denied keys are extra: see `list`. */
  async state(id: string): Promise<KeyState | undefined> {
    return (await this.read(id))?.state
  }

  /** The key that decides, or the one filed as `state`. */
  async read(id: string, state?: KeyState): Promise<{ state: KeyState; pem: string } | undefined> {
    if (!isMinionId(id)) return undefined
    for (const candidate of state ? [state] : keyStates) {
      const pem = await this.#files.read(candidate, id)
      if (pem !== undefined) return { state: candidate, pem }
    }
    return undefined
  }

  /** Ids in order. */
  list(state: KeyState): Promise<MinionId[]>
  list(): Promise<Record<KeyState, MinionId[]>>
  async list(state?: KeyState): Promise<MinionId[] | Record<KeyState, MinionId[]>> {
    if (state) return this.#files.list(state)
    const lists = keyStates.map(async (each) => [each, await this.#files.list(each)])
    return Object.fromEntries(await Promise.all(lists))
  }

  /** Minions whose key is accepted, in order: not those who are clients of the API. */
  async minions(): Promise<MinionId[]> {
    const ids = await this.#files.list('accepted')
    return this.#apiClients.length === 0 ? ids : ids.filter((id) => !isApiClient(id, this.#apiClients))
  }

  /** The accepted key of a minion. Synchronous and cheap: it is asked for with every request. */
  accepted(id: string): PublicKey | undefined {
    if (!isMinionId(id) || this.#files.stamp('rejected', id)) return undefined
    const stamp = this.#files.stamp('accepted', id)
    if (!stamp) return undefined
    const known = this.#accepted.get(id)
    if (known?.stamp === stamp) return known.key
    const pem = this.#files.readSync('accepted', id)
    const key = pem === undefined ? undefined : parse(pem)
    if (this.#accepted.size >= CACHED_KEYS) this.#accepted.clear()
    this.#accepted.set(id, { stamp, key })
    return key
  }

  /** A minion signs in with a key: decide (wire protocol §6.2), and file it. */
  async offer(id: string, pem: string, policy: KeyPolicy, details: Omit<Offer, 'id'> = {}): Promise<Outcome> {
    if (!isMinionId(id)) return { verdict: 'invalid', changes: [], reason: 'its id is not valid' }
    const accepted = this.accepted(id)
    const key = accepted?.pem === pem ? accepted : parse(pem)
    if (!key) return { verdict: 'invalid', changes: [], reason: 'it offered a key that cannot be read' }
    const facts = await this.#facts({ id, ...details }, policy)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const decision = await decide({ ...facts, filed: await this.#filed(id, key) })
      const changes = await this.#carryOut(id, pem, decision, policy.openMode)
      if (changes) return outcomeOf(decision, key, changes)
    }
    throw new SaltError(
      'KEY_REJECTED',
      `The key of ${id} could not be filed: others change it all the time.`,
      { id },
    )
  }

  /** Accept pending keys, and those of the other states if asked. A denied key replaces every other of its id. */
  async accept(
    match: KeyMatch,
    { includeRejected = false, includeDenied = false } = {},
  ): Promise<KeyChange[]> {
    // Denied keys first: what they replace is not accepted for a moment.
    const from: KeyState[] = includeDenied ? ['denied', 'pending'] : ['pending']
    if (includeRejected) from.push('rejected')
    return this.#each(match, from, (id, state) =>
      state === 'denied' ? this.#acceptDenied(id) : this.#acceptOne(id, state),
    )
  }

  /** File a key as accepted for an id that has none; with `force` in place of every other. Undefined if it has one. */
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

  /** Delete keys, whatever their state, or of the given states only. */
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

  async #facts(offer: Offer, policy: KeyPolicy) {
    return {
      full: await policy.full(offer),
      openMode: policy.openMode,
      autoReject: once(() => policy.autoReject(offer)),
      autoSign: once(() => policy.autoSign(offer)),
      join: once(() => policy.join(offer)),
      pendingFull: once(() => this.#pendingFull(policy.maxPending)),
    }
  }

  async #filed(id: MinionId, key: PublicKey) {
    for (const state of ['rejected', 'accepted', 'pending'] as const) {
      const pem = await this.#files.read(state, id)
      if (pem !== undefined) return { state, same: pem === key.pem || parse(pem)?.equals(key) === true }
    }
    return undefined
  }

  /** What has changed. Undefined if another process was faster, and the decision no longer holds. */
  async #carryOut(
    id: MinionId,
    pem: string,
    { file, leave }: Decision,
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

  /** A minion that keeps trying costs no writing. */
  async #replaceIfOther(state: KeyState, id: MinionId, pem: string): Promise<boolean> {
    if ((await this.#files.read(state, id)) === pem) return false
    await this.#files.replace(state, id, pem)
    return true
  }

  /** Takes a place among the pending keys, if there is one: many may ask at once. */
  async #pendingFull(max: number): Promise<boolean> {
    if (performance.now() > this.#countedUntil) {
      this.#countedUntil = performance.now() + COUNT_MS
      this.#counting = this.#countPending()
    }
    await this.#counting
    return this.#pending++ >= max
  }

  async #countPending(): Promise<void> {
    this.#pending = (await this.#files.list('pending')).length
  }
}

function parse(pem: string): PublicKey | undefined {
  try {
    return PublicKey.parse(pem)
  } catch {
    return undefined
  }
}

const unreadable = (id: MinionId): string =>
  `The key of ${id} cannot be read as an RSA public key; delete it.`

const isList = (match: readonly string[] | KeySelection): match is readonly string[] => Array.isArray(match)

function outcomeOf(decision: Decision, key: PublicKey, changes: readonly KeyChange[]): Outcome {
  const { verdict, reason, file, by, join } = decision
  const common = { reason, changes, by, join, ...(file && { filed: file }) }
  return verdict === 'accepted' ? { ...common, verdict, key } : { ...common, verdict }
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}
