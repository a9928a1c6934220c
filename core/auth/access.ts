import type { Log } from '../author/context.ts'
import type { MatchSubject } from '../author/kinds.ts'
import { seldom } from '../base/seldom.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { type AccessConfig, AccessRules, type Rights } from './access-rules.ts'
import { forbidsFunction, forbidsUser } from './blacklist.ts'
import type { Call, Caller, Verdict } from './contract.ts'
import { judge } from './judge.ts'
import { localName } from './members.ts'
import type { Rule } from './rule.ts'

export interface AccessSettings {
  readonly matcher: TargetMatcher
  /** These minions with what the master knows of them. */
  subjects(ids: readonly string[]): Iterable<MatchSubject>
  readonly log: Log
}

/** Whoever is known may ask for it: clients do so while they wait. To have it written somewhere takes a rule. */
const ALWAYS = 'saltutil.find_job'

/** Who may do what: the rules of the configuration, for every way to ask. */
export class Access {
  readonly #config: AccessConfig
  readonly #rules: AccessRules
  readonly #settings: AccessSettings
  readonly #tell: (problem: string) => void

  constructor(config: AccessConfig, settings: AccessSettings) {
    this.#config = config
    this.#rules = new AccessRules(config)
    this.#settings = settings
    this.#tell = seldom((problem) => settings.log.error(problem))
  }

  /** What the rules give somebody. Who is `unrestricted` needs none. */
  rightsOf(caller: Caller, kind: Call['kind'] = 'publish'): Rights {
    const { name, by, eauth = '', permissions } = caller
    if (permissions) return this.#rules.ofEntries(permissions, `the rights of ${name} (${eauth})`, this.#tell)
    if (by === 'minion') return this.#rules.ofMinion(name, kind === 'publish' ? 'peer' : 'peer_run')
    return by === 'key'
      ? this.#rules.ofLocal({ ...caller, name: localName(name) })
      : this.#rules.ofExternal(eauth, caller)
  }

  /** Each call by itself: all of them must be allowed. The verdict about the first that is not, else the rules of all. */
  judge(caller: Caller, calls: readonly Call[]): Verdict {
    const rules = new Set<string>()
    let isLimited = false
    for (const call of calls) {
      const verdict = this.#judge(caller, call)
      if (!verdict.allowed) return verdict
      rules.add(verdict.rule)
      isLimited ||= verdict.limited === true
    }
    if (rules.size === 0) return { allowed: false, reason: 'No function was named.' }
    return { allowed: true, rule: [...rules].join(', '), ...(isLimited && { limited: true }) }
  }

  /**
   * Whether somebody finds the jobs of others (`jobs.*`): who may do everything, on all minions and on the master's host, could
   * have run them.
   */
  seesAllJobs(caller: Caller): boolean {
    if (caller.unrestricted || this.#config.visible_jobs === 'all') return true
    const { rules } = this.rightsOf(caller)
    return (
      rules.some(allowsAllOnMinions) && ['runner', 'wheel'].every((kind) => rules.some(allowsAllOf(kind)))
    )
  }

  #judge(caller: Caller, call: Call): Verdict {
    const forbidden = this.#forbidden(caller, call)
    if (forbidden !== undefined) {
      const reason = `${caller.name} may not run ${call.fun}: ${forbidden} forbids it.`
      return { allowed: false, reason, rule: forbidden }
    }
    if (caller.unrestricted) return { allowed: true, rule: "the key of the master's user" }
    if (call.kind === 'publish' && call.fun === ALWAYS && !call.ret && caller.by !== 'minion')
      return { allowed: true, rule: `${ALWAYS} is for everybody who is known` }
    if (/[\s,]/.test(call.fun))
      return { allowed: false, reason: `'${call.fun}' is not the name of one function.` }
    const { source, rules } = this.rightsOf(caller, call.kind)
    const { matcher, subjects } = this.#settings
    const covers = (tgt: string, ids: readonly string[]): boolean => {
      const target = { tgt, tgt_type: 'compound' }
      for (const subject of subjects(ids)) if (matcher.match(target, subject) !== true) return false
      return true
    }
    return judge(call, { name: caller.name, source, rules, covers })
  }

  #forbidden(caller: Caller, { kind, fun }: Call): string | undefined {
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
  rule.functions.some(({ fun, conditions }) => !conditions && EVERYTHING.includes(fun.text))

const allowsAllOf =
  (kind: string) =>
  (rule: Rule): boolean =>
    rule.on === 'master' &&
    rule.name === kind &&
    (!rule.functions ||
      rule.functions.some(({ fun, conditions }) => !conditions && EVERYTHING.includes(fun.text)))

/** How rules write it. */
const EVERYTHING = ['.*', '.+']
