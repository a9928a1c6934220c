import type { JobOptions, Verdict } from './contract.ts'
import { allowedBy, coversAll, type Judging } from './judge.ts'
import { everythingIn } from './rule.ts'

/**
 * What a job asks for beside its functions. Who may run every function on all its minions could write there what and
 * where they like, so they may ask for all of it; others for the returners that rules grant.
 */
export function judgeOptions(options: JobOptions, judging: Judging): (() => Verdict)[] {
  for (const rule of judging.rules.filter((each) => each.on === 'minions')) {
    const everything = everythingIn(rule.functions)
    if (everything && coversAll(rule, options.minions, judging)) return [() => allowedBy(rule, everything)]
  }
  return [
    ...options.given.map((name) => () => refusedOption(name, judging)),
    ...options.returners.map((name) => () => judgeReturner(name, judging)),
  ]
}

function refusedOption(option: string, { name }: Judging): Verdict {
  const who = `only the master's user, and who may run every function ('.*') on all minions of the job`
  return { allowed: false, reason: `${name} may not give ${option}: ${who} may say that.` }
}

function judgeReturner(returner: string, { name, source, rules }: Judging): Verdict {
  for (const { place, names } of rules.filter((each) => each.on === 'returners')) {
    if (!names) return { allowed: true, rule: place }
    const found = names.find((granted) => granted.name.matches(returner))
    if (found) return { allowed: true, rule: found.place }
  }
  const reason = `${name} may not name the returner ${returner}: no rule of ${source} grants it ('@returners': [${returner}]).`
  return { allowed: false, reason }
}
