/** Somebody who has proved who they are. */
export interface Caller {
  /** What jobs carry as `user`. */
  readonly name: string
  /** By what: the key of a local user (wire protocol §14.4), a token (§14.5), credentials, or the key of a minion (`peer`). */
  readonly by: 'key' | 'token' | 'eauth' | 'minion'
  /** The backend of `external_auth`. */
  readonly eauth?: string
  readonly groups: readonly string[]
  /** Has the key of the master's user: no rule is needed, but `publisher_acl_blacklist` counts. */
  readonly unrestricted?: boolean
  /** Rights that count instead of those in the configuration: said by the backend, or kept in the token. */
  readonly permissions?: readonly unknown[]
}

/** What is asked for: one function. A job of several is several calls. */
export interface Call {
  readonly kind: 'publish' | 'runner' | 'wheel'
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** Whom the target means, of a `publish`. */
  readonly minions?: readonly string[]
}

/** What a job asks for beside its functions. */
export interface JobOptions {
  /** Names of the returners its minions are to write to (`--return`). */
  readonly returners: readonly string[]
  /** Which options it gives that say where returns go or what runs its functions: `ret_kwargs`, `module_executors`, … */
  readonly given: readonly string[]
  readonly minions: readonly string[]
}

/** `rule` is where it stands in the configuration, as `external_auth.pam.fred[1]['web*'][0]: 'pkg.*'`. */
export type Verdict =
  /** `limited`: on none but the minions of the call. */
  | { readonly allowed: true; readonly rule: string; readonly limited?: true }
  /** A sentence: what is not allowed to whom, and by which rule, if one forbids it. */
  | { readonly allowed: false; readonly reason: string; readonly rule?: string }
