import type { Log } from '../author/context.ts'
import type { MatchSubject } from '../author/kinds.ts'
import { onceInAWhile } from '../base/once-in-a-while.ts'
import { valueText } from '../dialect/json.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { type AccessConfig, AccessRules, type Rights } from './access-rules.ts'
import { readingsOf } from './argument-text.ts'
import { type AuthorizationContext, authorize } from './authorize.ts'
import { authorizeOptions } from './authorize-options.ts'
import { forbidsFunction, forbidsUser } from './blacklist.ts'
import type { AccessDecision, Caller, JobOptions, RequestedCall } from './contract.ts'
import { localName } from './matching-entries.ts'
import { ownerOf } from './owner.ts'
import { findAllFunctionsRule, type Rule } from './rule.ts'

export interface AccessSettings {
  readonly matcher: TargetMatcher
  /** Return these minions with the facts that the master has about them. */
  subjects(ids: readonly string[]): Iterable<MatchSubject>
  /** Return the owner of a job in the form of {@link ownerOf}; undefined if unknown. Without this function no owner is known. */
  ownerOfJob?(jid: string): string | undefined
  readonly log: Log
}

/** Allowed for every authenticated caller about their own jobs: clients call it while they wait for returns. */
const ALWAYS = 'saltutil.find_job'

/** Decides what callers may do, by the rules of the configuration, for all kinds of requests. */
export class Access {
  readonly #config: AccessConfig
  readonly #rules: AccessRules
  readonly #settings: AccessSettings
  readonly #report: (problem: string) => void

  constructor(config: AccessConfig, settings: AccessSettings) {
    this.#config = config
    this.#rules = new AccessRules(config)
    this.#settings = settings
    this.#report = onceInAWhile((problem) => settings.log.error(problem))
  }

  /** Return the rights that the rules give a caller. An `unrestricted` caller needs none. */
  rightsOf(caller: Caller, kind: RequestedCall['kind'] = 'publish'): Rights {
    const { name, by, eauth = '', permissions } = caller
    if (permissions)
      return this.#rules.ofEntries(permissions, `the rights of ${name} (${eauth})`, this.#report)
    if (by === 'minion') return this.#rules.ofMinion(name, kind === 'publish' ? 'peer' : 'peer_run')
    return by === 'key'
      ? this.#rules.ofLocal({ ...caller, name: localName(name) })
      : this.#rules.ofExternal(eauth, caller)
  }

  /** Judge each call separately. Return the first refusal; if there is none, an approval that lists the rules of all calls. */
  authorize(caller: Caller, calls: readonly RequestedCall[]): AccessDecision {
    return calls.length === 0
      ? { allowed: false, reason: 'No function was named.' }
      : allOf(calls.map((call) => () => this.#judge(caller, call)))
  }

  /** Judge a job: its calls, and the options besides its functions. */
  authorizeJob(caller: Caller, calls: readonly RequestedCall[], options: JobOptions): AccessDecision {
    const ofCalls = () => this.authorize(caller, calls)
    const asksForMore = options.returners.length > 0 || options.given.length > 0
    if (caller.unrestricted || !asksForMore) return ofCalls()
    return allOf([ofCalls, ...authorizeOptions(options, this.#judging(caller, 'publish'))])
  }

  /**
   * Whether the caller sees the jobs of others (`jobs.*`): one who may do everything, on all minions and on the master's host, could
   * have run them.
   */
  seesAllJobs(caller: Caller): boolean {
    if (caller.unrestricted || this.#config.visible_jobs === 'all') return true
    const { rules } = this.rightsOf(caller)
    return (
      rules.some(allowsAllOnMinions) && ['runner', 'wheel'].every((kind) => rules.some(allowsAllOf(kind)))
    )
  }

  #judge(caller: Caller, call: RequestedCall): AccessDecision {
    const forbidden = this.#forbidden(caller, call)
    if (forbidden !== undefined) {
      const reason = `${caller.name} may not run ${call.fun}: ${forbidden} forbids it.`
      return { allowed: false, reason, rule: forbidden }
    }
    if (caller.unrestricted) return { allowed: true, rule: "the key of the master's user" }
    if (call.kind === 'publish' && call.fun === ALWAYS && caller.by !== 'minion')
      return this.#authorizeJobLookup(caller, call)
    if (/[\s,]/.test(call.fun))
      return { allowed: false, reason: `'${call.fun}' is not the name of one function.` }
    return authorize(call, this.#judging(caller, call.kind))
  }

  /** Judge a job lookup of a caller. It shows who runs the job, and with which arguments. */
  #authorizeJobLookup(caller: Caller, call: RequestedCall): AccessDecision {
    const named = [...call.args, ...Object.values(call.kwargs)].flatMap(readingsOf).map(valueText)
    const isOfOther = (jid: string) => {
      const owner = this.#config.visible_jobs === 'all' ? undefined : this.#settings.ownerOfJob?.(jid)
      return owner !== undefined && owner !== ownerOf(caller)
    }
    const jid = named.find(isOfOther)
    if (jid === undefined) return { allowed: true, rule: `${ALWAYS} is allowed for every authenticated user` }
    const verdict = authorize(call, this.#judging(caller, call.kind))
    return verdict.allowed
      ? verdict
      : { ...verdict, reason: `The job ${jid} belongs to another user. ${verdict.reason}` }
  }

  #judging(caller: Caller, kind: RequestedCall['kind']): AuthorizationContext {
    const { source, rules } = this.rightsOf(caller, kind)
    const { matcher, subjects } = this.#settings
    const covers = (tgt: string, ids: readonly string[]): boolean => {
      const target = { tgt, tgt_type: 'compound' }
      for (const subject of subjects(ids)) if (matcher.match(target, subject) !== true) return false
      return true
    }
    return { name: caller.name, source, rules, covers }
  }

  #forbidden(caller: Caller, { kind, fun }: RequestedCall): string | undefined {
    const { publisher_acl_blacklist: blacklist } = this.#config
    return (
      (caller.by === 'minion' ? undefined : forbidsUser(blacklist, caller.name)) ??
      (kind === 'publish' && fun !== ALWAYS ? forbidsFunction(blacklist, fun) : undefined)
    )
  }
}

const allowsAllOnMinions = (rule: Rule): boolean =>
  rule.on === 'minions' &&
  (rule.target === undefined || rule.target === '*') &&
  findAllFunctionsRule(rule.functions) !== undefined

const allowsAllOf =
  (kind: string) =>
  (rule: Rule): boolean =>
    rule.on === 'master' &&
    rule.name === kind &&
    (!rule.functions || findAllFunctionsRule(rule.functions) !== undefined)

/** Return the first refusal; if there is none, an approval that lists the rules of all calls. */
function allOf(judges: readonly (() => AccessDecision)[]): AccessDecision {
  const rules = new Set<string>()
  let isLimited = false
  for (const judge of judges) {
    const verdict = judge()
    if (!verdict.allowed) return verdict
    rules.add(verdict.rule)
    isLimited ||= verdict.limited === true
  }
  return { allowed: true, rule: [...rules].join(', '), ...(isLimited && { limited: true }) }
}
