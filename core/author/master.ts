/** What the master's host has for runners and wheel functions. Types only. */

/** Whom a target means. */
export interface Matched {
  readonly minions: readonly string[]
  /** May be meant: the facts to decide are not known to the master. */
  readonly unknown: readonly string[]
  /** Ids of a list target without accepted key. */
  readonly missing: readonly string[]
}

/** Which of the stored jobs. What is not given does not matter. */
export interface JobQuery {
  /** At most so many: the newest of those that fit. */
  readonly limit?: number | undefined
  /** Only jobs whose jid is less than this; greater than this. */
  readonly before?: string | undefined
  readonly after?: string | undefined
  /** Shell patterns: one of them fits. */
  readonly functions?: readonly string[] | undefined
  readonly targets?: readonly string[] | undefined
  readonly users?: readonly string[] | undefined
  /** These members have these values. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** The master's own job cache in files, which are for the user who runs this alone. Paths in answers are absolute. */
export interface JobArchive {
  /**
   * Write jobs with their returns as JSON lines, compressed if the name ends with `.gz`; a file that is there is replaced
   * once the new one is whole. Of a batch whose jid is given all its jobs.
   */
  export(
    file: string,
    which?: JobQuery & { readonly jids?: readonly string[] | undefined },
  ): Promise<{ readonly file: string; readonly jobs: number; readonly returns: number }>
  /**
   * Read them back: what is in the job cache stays as it is (`known`). A wrong line is told of and left out; its number
   * counts from 1.
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
  /** Copy the store as it is at this moment, also while a master runs. */
  backup(file: string): Promise<{ readonly file: string; readonly bytes: number }>
}

/** A runner or wheel function that runs now in a process of its own, in the background or of `salt-run`. */
export interface RunningRun {
  readonly jid: string
  /** `runner.manage.up`, `wheel.key.accept`. */
  readonly fun: string
  readonly user: string
  /** Whose it is: `host:root`, `eauth:pam:fred`, `minion:web1`. */
  readonly owner?: string
  readonly pid: number
  /** Masked where they are secret. */
  readonly fun_args: readonly unknown[]
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

/** A key pair to make. By default `minion` in `pki_dir`, as long as `keysize` says, for the user of the master. */
export interface KeyFiles {
  readonly keydir?: string | undefined
  readonly keyname?: string | undefined
  readonly keysize?: number | undefined
  readonly user?: string | undefined
}

/** What to sign with what; paths by default are those of the configuration. */
export interface SignatureRequest {
  /** The signing key. */
  readonly priv?: string | undefined
  /** The key to sign. */
  readonly pub?: string | undefined
  /** The folder of the signature. */
  readonly signaturePath?: string | undefined
  /** Make the signing key if there is none. */
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
  /** Makes `<keyname>.pem` and `.pub` in a folder, where there are none, and gives the fingerprint. */
  generateFiles(files: KeyFiles): Promise<string>
  /** Signs the master's public key (`master_use_pubkey_signature`), and gives the path of the signature. */
  generateSignature(request: SignatureRequest): Promise<string>
}

/** Tokens by which the master knows who its `external_auth` has let in. */
export interface TokenAdmin {
  /** Has the running master make one: `{token, name, start, expire, eauth}`, times in seconds since 1970. */
  make(credentials: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
  /** False if there is none. */
  remove(token: string): Promise<boolean>
}

/** Somebody who would ask for a function. */
export interface AccessQuestion {
  readonly user: string
  /** A backend of `external_auth`; without one it is a user of the master's host. */
  readonly eauth?: string | undefined
  /** Without `%`. Of a user of this host those they are in, if not said. */
  readonly groups?: readonly string[] | undefined
  readonly kind: 'publish' | 'runner' | 'wheel'
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** Of a `publish`. */
  readonly tgt: unknown
  readonly tgtType: string
  /** The returners that `--return` names. */
  readonly returners?: readonly string[] | undefined
}

export interface AccessAnswer {
  readonly allowed: boolean
  /** Where in the configuration it stands, and what stands there. */
  readonly rule?: string
  /** A sentence, if it is not allowed. */
  readonly reason?: string
  /** Whom the target means, of a `publish`. */
  readonly minions?: readonly string[]
}

/** Who may do what, by the configuration as it is in the files now. */
export interface AccessAdmin {
  /** Rejects with INVALID_ARGUMENTS, CONFIG_INVALID, TARGET_INVALID. Nobody's password is asked for, nothing is run. */
  test(question: AccessQuestion): Promise<AccessAnswer>
}

/** How it stands with a returner the master writes to. Times are UTC, ISO 8601. */
export interface ReturnerStatus {
  readonly returner: string
  /** `down`: the last try failed. */
  readonly state: 'up' | 'down'
  readonly since?: string
  /** Records that wait, and since when the oldest does. */
  readonly queued: number
  readonly oldest?: string
  readonly written: number
  /** Of those, how many a second, in the last minute or two. */
  readonly rate: number
  /** Tries that failed since the last that did not, and why the last did. */
  readonly failures: number
  readonly error?: string
  /** When a try last failed and why, also if all is well since. */
  readonly last_error?: string
  /** Records that were put aside, and the first of them. */
  readonly dead: number
  readonly aside: readonly { readonly number: number; readonly kind: string; readonly reason: string }[]
}

/** The returners of the master's host. */
export interface ReturnerAdmin {
  status(): Promise<ReturnerStatus[]>
  /** Write, read and remove a return; sentences about what was seen. Rejects if it does not work. */
  test(name: string): Promise<readonly string[]>
  migrate(name: string): Promise<readonly string[]>
  /** Write again, or drop, what was put aside: all of it, or these numbers. Gives how many. */
  retry(name: string, numbers?: readonly number[]): Promise<number>
  purge(name: string, numbers?: readonly number[]): Promise<number>
}

/** What the check of the audit log gives. */
export interface AuditReport {
  readonly valid: boolean
  readonly lines: number
  /** Path → lines. */
  readonly files: Readonly<Record<string, number>>
  /** To be noted elsewhere: `audit.verify since=<seq> hash=<hash>` says whether it is still there. */
  readonly last?: { readonly seq: number; readonly hash: string; readonly time: string }
  /** Sentences that name files and lines. */
  readonly problems: readonly string[]
  /** What is no problem, and good to know. */
  readonly notes: readonly string[]
}

export interface AuditQuery {
  /** A shell pattern. */
  readonly user?: string | undefined
  readonly act?: string | undefined
  readonly verdict?: string | undefined
  /** Where it came from, or is said to: a shell pattern. */
  readonly address?: string | undefined
  /** At most so many, the newest; 50 if not said. */
  readonly limit?: number | undefined
}

/** The audit log of the master (`audit_log`). */
export interface AuditAdmin {
  /** Reads all of it. Rejects if this user may not read it. */
  verify(noted?: {
    readonly since?: number | undefined
    readonly hash?: string | undefined
  }): Promise<AuditReport>
  /** Lines that fit, oldest first. */
  list(query?: AuditQuery): Promise<readonly Readonly<Record<string, unknown>>[]>
}
