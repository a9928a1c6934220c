import type { Log } from '../author/context.ts'
import type { Returner } from '../author/returner.ts'
import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { sentence } from '../base/sentence.ts'
import { kindOf } from '../loader/kind-of.ts'

const MEMBERS: { readonly [K in keyof Required<Returner>]: 'function' | 'boolean' } = {
  idempotent: 'boolean',
  save: 'function',
  saveBatch: 'function',
  prepJid: 'function',
  saveLoad: 'function',
  saveMinions: 'function',
  saveEvents: 'function',
  updateEndtime: 'function',
  getLoad: 'function',
  getJid: 'function',
  getFun: 'function',
  getJids: 'function',
  getJidsFilter: 'function',
  getMinions: 'function',
  cleanOldJobs: 'function',
  remove: 'function',
  migrate: 'function',
  close: 'function',
}
const NAMES = Object.keys(MEMBERS)

/** A returner may have members of its own: these many wrong letters make one that is meant for ours. */
const MISTAKES = 1

/**
 * What `create` of a returner gave, if it can be used as one. A member that nothing calls, and whose name is nearly one
 * of ours, is a warning.
 * @throws SaltError MODULE_FAILED naming a member that is missing or is no function.
 */
export function checkedReturner(name: string, made: unknown, log: Log): Returner {
  if (typeof made !== 'object' || made === null)
    throw failed(name, `its 'create' gives ${kindOf(made)}, and is to give an object with a function 'save'`)
  const of = (member: string): unknown => Reflect.get(made, member)
  if (of('save') === undefined) throw failed(name, `it has no function 'save'.${hint(made)}`)
  for (const [member, type] of Object.entries(MEMBERS)) {
    const value = of(member)
    if (value !== undefined && typeof value !== type)
      throw failed(name, `its '${member}' is ${kindOf(value)} and no ${type}`)
  }
  for (const member of membersOf(made)) {
    const meant = NAMES.includes(member) ? undefined : closest(inOurSpelling(member), NAMES, MISTAKES)
    if (meant !== undefined && of(meant) === undefined)
      log.warn(`The returner ${name} has a member '${member}', which nothing calls. Did you mean '${meant}'?`)
  }
  return made as Returner
}

function hint(made: object): string {
  const others = membersOf(made).filter((member) => !NAMES.includes(member))
  const given = closest('save', others.map(inOurSpelling))
  const near = others.find((member) => inOurSpelling(member) === given)
  return near === undefined ? '' : ` It has '${near}': did you mean 'save'?`
}

/** Own ones, and those of its classes. */
function membersOf(made: object): string[] {
  const found = new Set<string>()
  for (let at: object | null = made; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const member of Object.getOwnPropertyNames(at)) found.add(member)
  return [...found]
}

/** Returners of Python Salt say `prep_jid`. */
const inOurSpelling = (member: string): string =>
  member.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const failed = (name: string, reason: string) =>
  new SaltError('MODULE_FAILED', `The returner ${name} cannot be used: ${sentence(reason)}`, { name })
