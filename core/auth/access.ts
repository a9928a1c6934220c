import type { Log } from '../author/context.ts'
import type { MatchSubject } from '../author/kinds.ts'
import { seldom } from '../base/seldom.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { type AccessConfig, AccessRules, type Rights } from './access-rules.ts'
import { forbidsFunction, forbidsUser } from './blacklist.ts'
import type { Call, Caller, JobOptions, Verdict } from './contract.ts'
import { type Judging, judge } from './judge.ts'
import { judgeOptions } from './judge-options.ts'
import { localName } from './members.ts'
import { ownerOf } from './owner.ts'
import { everythingIn, type Rule } from './rule.ts'

export interface AccessSettings {
  readonly matcher: TargetMatcher
  /** These minions with what the master knows of them. */
  subjects(ids: readonly string[]): Iterable<MatchSubject>
  /** Whose a job is, as {@link ownerOf} names them; undefined if that is not known. Without this all jobs count as such. */
  ownerOfJob?(jid: string): string | undefined
  readonly log: Log
}

/** Allowed for every known user about their own jobs: clients call it while they wait for returns. */
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
    return calls.length === 0
      ? { allowed: false, reason: 'No function was named.' }
      : allOf(calls.map((call) => () => this.#judge(caller, call)))
  }

  /** The same for a job, with what it asks for beside its functions. */
  judgeJob(caller: Caller, calls: readonly Call[], options: JobOptions): Verdict {
    const ofCalls = () => this.judge(caller, calls)
    const asksForMore = options.returners.length > 0 || options.given.length > 0
    if (caller.unrestricted || !asksForMore) return ofCalls()
    return allOf([ofCalls, ...judgeOptions(options, this.#judging(caller, 'publish'))])
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
    if (call.kind === 'publish' && call.fun === ALWAYS && caller.by !== 'minion')
      return this.#judgeFinding(caller, call)
    if (/[\s,]/.test(call.fun))
      return { allowed: false, reason: `'${call.fun}' is not the name of one function.` }
    return judge(call, this.#judging(caller, call.kind))
  }

  /** It shows who runs a job, and with which arguments. */
  #judgeFinding(caller: Caller, call: Call): Verdict {
    const jid = String(call.args[0] ?? call.kwargs.jid)
    const owner = this.#config.visible_jobs === 'all' ? undefined : this.#settings.ownerOfJob?.(jid)
    if (owner === undefined || owner === ownerOf(caller))
      return { allowed: true, rule: `${ALWAYS} is for everybody who is known` }
    const verdict = judge(call, this.#judging(caller, call.kind))
    return verdict.allowed
      ? verdict
      : { ...verdict, reason: `The job ${jid} is somebody else's. ${verdict.reason}` }
  }

  #judging(caller: Caller, kind: Call['kind']): Judging {
    const { source, rules } = this.rightsOf(caller, kind)
    const { matcher, subjects } = this.#settings
    const covers = (tgt: string, ids: readonly string[]): boolean => {
      const target = { tgt, tgt_type: 'compound' }
      for (const subject of subjects(ids)) if (matcher.match(target, subject) !== true) return false
      return true
    }
    return { name: caller.name, source, rules, covers }
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
  everythingIn(rule.functions) !== undefined

const allowsAllOf =
  (kind: string) =>
  (rule: Rule): boolean =>
    rule.on === 'master' &&
    rule.name === kind &&
    (!rule.functions || everythingIn(rule.functions) !== undefined)

/** The first that refuses, else the rules of all. */
function allOf(judges: readonly (() => Verdict)[]): Verdict {
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
