import { type AuthorizationContext, approvalOf, coversAll } from './authorize.ts'
import type { AccessDecision, JobOptions } from './contract.ts'
import { findAllFunctionsRule } from './rule.ts'

/**
 * Judge the options of a job besides its functions. A caller who may run every function on all its minions can write what and where
 * they like there, so they may use all options; others may use the returners that rules grant.
 */
export function authorizeOptions(
  options: JobOptions,
  judging: AuthorizationContext,
): (() => AccessDecision)[] {
  for (const rule of judging.rules.filter((each) => each.on === 'minions')) {
    const everything = findAllFunctionsRule(rule.functions)
    if (everything && coversAll(rule, options.minions, judging)) return [() => approvalOf(rule, everything)]
  }
  return [
    ...options.given.map((name) => () => refusedOption(name, judging)),
    ...options.returners.map((name) => () => authorizeReturner(name, judging)),
  ]
}

function refusedOption(option: string, { name }: AuthorizationContext): AccessDecision {
  const who = `only the master's user, and users who may run every function ('.*') on all minions of the job`
  return { allowed: false, reason: `${name} may not use ${option}: ${who} may use it.` }
}

function authorizeReturner(returner: string, { name, source, rules }: AuthorizationContext): AccessDecision {
  for (const { place, names } of rules.filter((each) => each.on === 'returners')) {
    if (!names) return { allowed: true, rule: place }
    const found = names.find((granted) => granted.name.matches(returner))
    if (found) return { allowed: true, rule: found.place }
  }
  const reason = `${name} may not use the returner ${returner}: no rule of ${source} grants it ('@returners': [${returner}]).`
  return { allowed: false, reason }
}
