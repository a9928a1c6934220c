/** Services of the master's host for runners and wheel functions. Types only. */

/** The minions that a target matches. */
export interface Matched {
  readonly minions: readonly string[]
  /** Minions that the target may match: the master lacks the facts to decide. */
  readonly unknown: readonly string[]
  /** Ids of a list target that have no accepted key. */
  readonly missing: readonly string[]
}

/** A selection of stored jobs. Members left out do not restrict it. */
export interface JobQuery {
  /** Maximum number of jobs: the newest of those that match. */
  readonly limit?: number | undefined
  /** Return only jobs with a smaller jid. */
  readonly before?: string | undefined
  /** Return only jobs with a greater jid. */
  readonly after?: string | undefined
  /** Shell patterns; the function of a job matches one of them. */
  readonly functions?: readonly string[] | undefined
  readonly targets?: readonly string[] | undefined
  readonly users?: readonly string[] | undefined
  /** Metadata that a job has, among others. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Copies of the master's own job cache in files that only the current user may read. Paths in results are absolute. */
export interface JobArchive {
  /**
   * Write jobs with their returns as JSON lines, compressed if the name ends with `.gz`. An existing file is replaced once
   * the new one is complete. The jid of a batch selects all its jobs.
   */
  export(
    file: string,
    which?: JobQuery & { readonly jids?: readonly string[] | undefined },
  ): Promise<{ readonly file: string; readonly jobs: number; readonly returns: number }>
  /**
   * Read jobs and returns from such a file. Those that the job cache has already stay unchanged (`known`). A malformed line
   * is skipped, and reported to `onRefused` with its number, counted from 1.
   */
  import(
    file: string,
    onRefused: (line: number, why: string) => Promise<void>,
  ): Promise<{
    readonly file: string
    readonly jobs: number
    readonly returns: number
    readonly known: number
    readonly refused: number
  }>
  /** Copy a snapshot of the store, also while a master runs. */
  backup(file: string): Promise<{ readonly file: string; readonly bytes: number }>
}

/** A running runner or wheel function: in a process of its own, in the background or under `salt-run`. */
export interface RunningRun {
  readonly jid: string
  /** `runner.manage.up`, `wheel.key.accept`. */
  readonly fun: string
  readonly user: string
  /** The owner: `host:root`, `eauth:pam:fred`, `minion:web1`. */
  readonly owner?: string
  readonly pid: number
  /** The arguments, with secrets masked. */
  readonly fun_args: readonly unknown[]
}

/**
 * Salt's data cache: values by bank and key. The cached data of a minion, `{grains, pillar}`, has the bank `minions/<id>` and
 * the key `data`; all other banks are free to use.
 */
export interface MasterCache {
  /** List the names inside a bank: its keys, and the next part of the names of banks below it. */
  list(bank: string): Promise<string[]>
  fetch(bank: string, key: string): Promise<unknown>
  store(bank: string, key: string, data: unknown): Promise<void>
  /** Remove a key, or without one the whole bank and those below it. False if there was nothing. */
  flush(bank: string, key?: string): Promise<boolean>
}

/** A value in the mine of a minion, and when it was stored, in UTC, ISO 8601. */
export interface StoredMineValue {
  readonly value: unknown
  readonly updated: string
}

/** The values that minions share with each other (Salt's mine). */
export interface MineAdmin {
  /** Return values of these minions for a name, names with commas, or a list of names, in the form of `mine.get`. */
  get(ids: readonly string[], fun: unknown): Promise<Readonly<Record<string, unknown>>>
  /** Return all that these minions have: id → name → value. */
  entries(
    ids: readonly string[],
  ): Promise<Readonly<Record<string, Readonly<Record<string, StoredMineValue>>>>>
  /** Remove values of these minions, by default all. Resolves with their number. */
  remove(ids: readonly string[], names?: readonly string[]): Promise<number>
}

/** Ids by Salt's names of the key states: `minions`, `minions_pre`, …; `local` lists the master's own key files. */
export type KeyLists = Readonly<Record<string, readonly string[]>>

/** PEM texts or fingerprints, by key state and id. */
export type KeyTexts = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface KeyPair {
  readonly priv: string
  readonly pub: string
}

/**
 * A key pair to generate. By default it is `minion` in `pki_dir`, of the size `keysize`, owned by the user of the
 * master.
 */
export interface KeyFiles {
  readonly keydir?: string | undefined
  readonly keyname?: string | undefined
  readonly keysize?: number | undefined
  readonly user?: string | undefined
}

/** A signature to make. Paths default to those of the configuration. */
export interface SignatureRequest {
  /** The signing key. */
  readonly priv?: string | undefined
  /** The key to sign. */
  readonly pub?: string | undefined
  /** The directory of the signature. */
  readonly signaturePath?: string | undefined
  /** Whether to generate the signing key if there is none. */
  readonly autoCreate?: boolean
  readonly keysize?: number | undefined
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
 * The keys of minions. `match` is a shell pattern, or several with commas. Methods that change keys do the same as
 * `salt-key`, and resolve with the states of the changed keys.
 */
export interface KeyAdmin {
  /**
   * List the keys of a state, named as for `salt-key -l`: `pre`, `acc`, `rej`, `den`, `all`. Undefined for another
   * word.
   */
  list(word: string): Promise<KeyLists | undefined>
  /** List all keys, with the master's own. */
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
  /** Return the master's public key. */
  master(): Promise<KeyTexts>
  fingerMaster(hash?: string): Promise<KeyTexts>
  /** Generate a key pair without storing it. */
  generate(keysize?: number): Promise<KeyPair>
  /** Generate a key pair, and accept its public key. Undefined if the id has a key already, unless with `force`. */
  generateAccepted(
    id: string,
    options?: { readonly keysize?: number; readonly force?: boolean },
  ): Promise<KeyPair | undefined>
  /** Write `<keyname>.pem` and `.pub` to a directory that has none, and return the fingerprint. */
  generateFiles(files: KeyFiles): Promise<string>
  /** Sign the master's public key (`master_use_pubkey_signature`), and return the path of the signature. */
  generateSignature(request: SignatureRequest): Promise<string>
}

/** Tokens of users that `external_auth` has authenticated. */
export interface TokenAdmin {
  /** Request a token from the running master: `{token, name, start, expire, eauth}`, times in seconds since 1970. */
  make(credentials: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
  /** Remove a token; false if there is none. */
  remove(token: string): Promise<boolean>
}

/** A user and the function to check for permission. */
export interface AccessQuestion {
  readonly user: string
  /** The backend of `external_auth`; without one, `user` is a user of the master's host. */
  readonly eauth?: string | undefined
  /** Groups of the user, without `%`. Those of the host by default, for a user of the host. */
  readonly groups?: readonly string[] | undefined
  readonly kind: 'publish' | 'runner' | 'wheel'
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** The target, for the kind `publish`. */
  readonly tgt: unknown
  /** The target type, for the kind `publish`. */
  readonly tgtType: string
  /** The returners that `--return` names. */
  readonly returners?: readonly string[] | undefined
}

export interface AccessAnswer {
  readonly allowed: boolean
  /** The rule that allows it: its place in the configuration, and its text. */
  readonly rule?: string
  /** The reason, as a sentence, if it is not allowed. */
  readonly reason?: string
  /** The minions that the target matches, for the kind `publish`. */
  readonly minions?: readonly string[]
}

/** The access rules, by the configuration files as they are now. */
export interface AccessAdmin {
  /**
   * Check whether a user may run a function, without a password and without running it. Rejects with INVALID_ARGUMENTS,
   * CONFIG_INVALID or TARGET_INVALID.
   */
  test(question: AccessQuestion): Promise<AccessAnswer>
}

/** The status of a returner that the master writes to. Times are UTC, ISO 8601. */
export interface ReturnerStatus {
  readonly returner: string
  /** `down` if the last attempt failed. */
  readonly state: 'up' | 'down'
  /** The time of the last change of `state`. */
  readonly since?: string
  /** Number of records that wait. */
  readonly queued: number
  /** The time since which the oldest of them waits. */
  readonly oldest?: string
  /** Number of records written. */
  readonly written: number
  /** Records written per second in the last minute or two. */
  readonly rate: number
  /** Number of failed attempts since the last successful one. */
  readonly failures: number
  /** The reason of the last of these failures. */
  readonly error?: string
  /** Time and reason of the last failed attempt, also if later ones succeeded. */
  readonly last_error?: string
  /** Number of records that were put aside. */
  readonly dead: number
  /** The first records that were put aside. */
  readonly aside: readonly { readonly number: number; readonly kind: string; readonly reason: string }[]
}

/** The returners of the master's host. */
export interface ReturnerAdmin {
  status(): Promise<ReturnerStatus[]>
  /** Write, read and remove a return, and report each step as a sentence. Rejects if a step fails. */
  test(name: string): Promise<readonly string[]>
  migrate(name: string): Promise<readonly string[]>
  /** Return records that were put aside to the queue: all, or those with these numbers. Resolves with their count. */
  retry(name: string, numbers?: readonly number[]): Promise<number>
  /** Delete records that were put aside: all, or those with these numbers. Resolves with their count. */
  purge(name: string, numbers?: readonly number[]): Promise<number>
}

/** The result of checking the audit log. */
export interface AuditReport {
  readonly valid: boolean
  readonly lines: number
  /** Path → number of lines. */
  readonly files: Readonly<Record<string, number>>
  /** The last line. Note it elsewhere: `audit.verify since=<seq> hash=<hash>` checks later that the log still has it. */
  readonly last?: { readonly seq: number; readonly hash: string; readonly time: string }
  /** Problems as sentences, with files and lines. */
  readonly problems: readonly string[]
  /** Remarks that are not problems. */
  readonly notes: readonly string[]
}

export interface AuditQuery {
  /** A shell pattern. */
  readonly user?: string | undefined
  readonly act?: string | undefined
  readonly verdict?: string | undefined
  /** A shell pattern for the address of the client, including addresses that a proxy reports. */
  readonly address?: string | undefined
  /** The number of lines at most: the newest of those that match. 50 by default. */
  readonly limit?: number | undefined
}

/** The audit log of the master (`audit_log`). */
export interface AuditAdmin {
  /** Check the whole log. Rejects if this user may not read it. */
  verify(noted?: {
    readonly since?: number | undefined
    readonly hash?: string | undefined
  }): Promise<AuditReport>
  /** List the lines that match, oldest first. */
  list(query?: AuditQuery): Promise<readonly Readonly<Record<string, unknown>>[]>
}
