/** An authenticated caller. */
export interface Caller {
  /** The `user` of the caller's jobs. */
  readonly name: string
  /** Proof: the key of a local user (wire protocol §14.4), a token (§14.5), credentials, or the key of a minion (`peer`). */
  readonly by: 'key' | 'token' | 'eauth' | 'minion'
  /** The backend of `external_auth`. */
  readonly eauth?: string
  readonly groups: readonly string[]
  /** Whether the caller has the key of the master's user: needs no rule, but `publisher_acl_blacklist` applies. */
  readonly unrestricted?: boolean
  /** Rights that replace those of the configuration, from the backend or the token. */
  readonly permissions?: readonly unknown[]
}

/** A requested call of one function. A job of several functions is several calls. */
export interface RequestedCall {
  readonly kind: 'publish' | 'runner' | 'wheel'
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** The minions that the target of a `publish` selects. */
  readonly minions?: readonly string[]
}

/** Options of a job besides its functions. */
export interface JobOptions {
  /** Names of the returners that its minions write to (`--return`). */
  readonly returners: readonly string[]
  /** Options it sets that decide where returns go or what runs its functions: `ret_kwargs`, `module_executors`, … */
  readonly given: readonly string[]
  readonly minions: readonly string[]
}

/** `rule` is the place in the configuration, with the text there: `external_auth.pam.fred[1]['web*'][0]: 'pkg.*'`. */
export type AccessDecision =
  /** `limited`: allowed only on the minions of the call. */
  | { readonly allowed: true; readonly rule: string; readonly limited?: true }
  /** `reason` is a sentence; `rule` is the rule that forbids it, if there is one. */
  | { readonly allowed: false; readonly reason: string; readonly rule?: string }
