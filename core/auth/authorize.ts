import { shortList } from '../base/sentence.ts'
import { argumentText, readingsOf } from './argument-text.ts'
import type { AccessDecision, RequestedCall } from './contract.ts'
import type { Condition, FunctionRule, MasterRule, MinionRule, Pattern, Rule } from './rule.ts'

export interface AuthorizationContext {
  /** The caller, and the place of their rules, for messages: `fred`, `external_auth.pam`. */
  readonly name: string
  readonly source: string
  readonly rules: readonly Rule[]
  /** Whether a compound target selects all of these minions for certain, by the facts that the master has. */
  covers(target: string, minions: readonly string[]): boolean
}

/** Judge a call. One rule must allow all of it: its function, its arguments, and every minion. */
export function authorize(call: RequestedCall, judging: AuthorizationContext): AccessDecision {
  return call.kind === 'publish' ? authorizePublish(call, judging) : authorizeRun(call, judging)
}

function authorizePublish(call: RequestedCall, judging: AuthorizationContext): AccessDecision {
  const minions = call.minions ?? []
  const near: Near[] = []
  for (const rule of judging.rules.filter((each) => each.on === 'minions')) {
    const found = matching(rule.functions, call.fun, call)
    if (!found) continue
    const covered = coversAll(rule, minions, judging)
    if (found.fits && covered) return approvalOf(rule, found.rule)
    near.push({ ...found, rule: found.rule, covered })
  }
  return refused(call, judging, near)
}

/** Whether a rule covers all of these minions. */
export const coversAll = (
  { target }: MinionRule,
  minions: readonly string[],
  { covers }: Pick<AuthorizationContext, 'covers'>,
): boolean => target === undefined || (minions.length > 0 && covers(target, minions))

export function approvalOf({ target }: MinionRule, { place }: FunctionRule): AccessDecision {
  const isLimited = target !== undefined && target !== '*'
  return { allowed: true, rule: place, ...(isLimited && { limited: true }) }
}

function authorizeRun(call: RequestedCall, judging: AuthorizationContext): AccessDecision {
  const [module, own, ...more] = call.fun.split('.')
  if (!module || !own || more.length > 0)
    return {
      allowed: false,
      reason: `'${call.fun}' is not the name of a function. Its form is module.function.`,
    }
  const near: Near[] = []
  for (const rule of judging.rules.filter((each) => each.on === 'master')) {
    const name = nameFor(rule, call.kind, { module, own, fun: call.fun })
    if (name === undefined) continue
    if (!rule.functions) return { allowed: true, rule: rule.place }
    const found = matching(rule.functions, name, call)
    if (found?.fits) return { allowed: true, rule: found.rule.place }
    if (found) near.push({ ...found, covered: true })
  }
  return refused(call, judging, near)
}

/** Return the name that the functions of a rule are compared with; undefined if the rule is about other functions. */
function nameFor(
  { name }: MasterRule,
  kind: RequestedCall['kind'],
  { module, own, fun }: { readonly module: string; readonly own: string; readonly fun: string },
): string | undefined {
  if (name === kind) return fun
  return name === module ? own : undefined
}

interface Match {
  readonly rule: FunctionRule
  /** Whether its arguments are allowed, too. */
  readonly fits: boolean
}

interface Near extends Match {
  readonly covered: boolean
}

/** Return the first rule that allows the call, else the first that names the function. */
function matching(
  functions: MinionRule['functions'],
  name: string,
  call: Pick<RequestedCall, 'args' | 'kwargs'>,
): Match | undefined {
  const named = functions.filter(({ fun }) => fun.matches(name))
  const fitting = named.find(({ conditions }) => conditions?.some((one) => meets(call, one)) ?? true)
  const rule = fitting ?? named[0]
  return rule && { rule, fits: fitting !== undefined }
}

function meets({ args, kwargs }: Pick<RequestedCall, 'args' | 'kwargs'>, condition: Condition): boolean {
  return (
    condition.args.every((pattern, index) => index < args.length && allows(pattern, args[index])) &&
    [...condition.kwargs].every(
      ([name, pattern]) => Object.hasOwn(kwargs, name) && allows(pattern, kwargs[name]),
    )
  )
}

/** Whether a pattern allows a value, in all its readings. */
function allows(pattern: Pattern | undefined, value: unknown): boolean {
  return !pattern || readingsOf(value).every((reading) => pattern.matches(argumentText(reading)))
}

function refused(
  call: RequestedCall,
  { name, source, rules }: AuthorizationContext,
  near: readonly Near[],
): AccessDecision {
  const what = {
    publish: call.fun,
    runner: `the runner ${call.fun}`,
    wheel: `the wheel function ${call.fun}`,
  }[call.kind]
  const says = (reason: string, rule?: FunctionRule): AccessDecision => ({
    allowed: false,
    reason: `${name} may not run ${what}: ${reason}`,
    ...(rule && { rule: rule.place }),
  })
  if (rules.length === 0) return says(`no rule of ${source} applies to ${name}.`)
  const wrongArguments = near.find(({ covered }) => covered)
  if (wrongArguments)
    return says(`${wrongArguments.rule.place} allows it with other arguments only.`, wrongArguments.rule)
  const [elsewhere] = near
  if (!elsewhere) return says(`no rule of ${source} allows it.`)
  const minions = call.minions ?? []
  const where =
    minions.length === 0
      ? 'is for certain minions, and the target selects no known minion.'
      : `is not for all of ${shortList(minions, SHOWN)}.`
  return says(`${elsewhere.rule.place} ${where}`, elsewhere.rule)
}

const SHOWN = 3
