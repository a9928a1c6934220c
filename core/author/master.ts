/** What the master's host has for runners and wheel functions. Types only. */

/** Whom a target means. */
export interface Matched {
  readonly minions: readonly string[]
  /** May be meant: the facts to decide are not known to the master. */
  readonly unknown: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
}

/** A runner or wheel function in the background. */
export interface RunningRun {
  readonly jid: string
  readonly fun: string
  readonly user: string
  readonly pid: number
}

/**
 * Salt's data cache: values by bank and key. What is cached of a minion is the bank `minions/<id>` with the key `data`,
 * `{grains, pillar}`; all other banks are for everybody.
 */
export interface MasterCache {
  /** Names inside a bank: its keys, and the next part of the names of banks below it. */
  list(bank: string): Promise<string[]>
  fetch(bank: string, key: string): Promise<unknown>
  store(bank: string, key: string, data: unknown): Promise<void>
  /** Remove a key; without one the bank with all below it. False if there was nothing. */
  flush(bank: string, key?: string): Promise<boolean>
}

/** Ids by Salt's names of the states of keys: `minions`, `minions_pre`, …; `local` are files of the master's own. */
export type KeyLists = Readonly<Record<string, readonly string[]>>

/** By state and id: PEM texts, or fingerprints. */
export type KeyTexts = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface KeyPair {
  readonly priv: string
  readonly pub: string
}

interface Accepting {
  readonly includeRejected?: boolean
  readonly includeDenied?: boolean
}
interface Rejecting {
  readonly includeAccepted?: boolean
  readonly includeDenied?: boolean
}

/**
 * The keys of minions. `match` is a shell pattern, or several with commas. What changes keys does all that `salt-key`
 * does, and gives where the keys are afterwards.
 */
export interface KeyAdmin {
  /** By a word of `salt-key -l`: `pre`, `acc`, `rej`, `den`, `all`. Undefined for another word. */
  list(word: string): Promise<KeyLists | undefined>
  /** The master's own files too. */
  all(): Promise<KeyLists>
  match(match: string): Promise<KeyLists>
  accept(match: string, options?: Accepting): Promise<KeyLists>
  acceptDict(keys: KeyLists, options?: Accepting): Promise<KeyLists>
  reject(match: string, options?: Rejecting): Promise<KeyLists>
  rejectDict(keys: KeyLists, options?: Rejecting): Promise<KeyLists>
  delete(match: string): Promise<KeyLists>
  deleteDict(keys: KeyLists): Promise<KeyLists>
  print(match: string): Promise<KeyTexts>
  finger(match: string, hash?: string): Promise<KeyTexts>
  /** The master's public key. */
  master(): Promise<KeyTexts>
  fingerMaster(hash?: string): Promise<KeyTexts>
  /** Makes a pair that is stored nowhere. */
  generate(keysize?: number): Promise<KeyPair>
  /** The same, and accepts it; undefined if the id has a key, unless with `force`. */
  generateAccepted(
    id: string,
    options?: { readonly keysize?: number; readonly force?: boolean },
  ): Promise<KeyPair | undefined>
}
