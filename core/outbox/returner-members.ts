import type { Log } from '../author/context.ts'
import type { Returner } from '../author/returner.ts'
import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { sentence } from '../base/sentence.ts'
import { typeInWords } from '../loader/kind-of.ts'

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
  sharedSince: 'function',
  putShared: 'function',
  removeShared: 'function',
  migrate: 'function',
  close: 'function',
}
const NAMES = Object.keys(MEMBERS)

/** Number of differing letters up to which an unknown member is taken for a misspelt member of the contract. */
const MISTAKES = 1

/**
 * Return what `create` of a returner returned, if it satisfies the contract. Log a warning for an unknown member whose name
 * resembles one of the contract.
 * @throws SaltError MODULE_FAILED with the member that is missing or has the wrong type.
 */
export function checkedReturner(name: string, made: unknown, log: Log): Returner {
  if (typeof made !== 'object' || made === null)
    throw failed(
      name,
      `its 'create' returns ${typeInWords(made)}, but must return an object with a function 'save'`,
    )
  const of = (member: string): unknown => Reflect.get(made, member)
  if (of('save') === undefined) throw failed(name, `it has no function 'save'.${hint(made)}`)
  for (const [member, type] of Object.entries(MEMBERS)) {
    const value = of(member)
    if (value !== undefined && typeof value !== type)
      throw failed(name, `its '${member}' is ${typeInWords(value)}, not a ${type}`)
  }
  for (const member of membersOf(made)) {
    const meant = NAMES.includes(member) ? undefined : closest(camelCase(member), NAMES, MISTAKES)
    if (meant !== undefined && of(meant) === undefined)
      log.warn(`The returner ${name} has a member '${member}', which nothing calls. Did you mean '${meant}'?`)
  }
  return made as Returner
}

function hint(made: object): string {
  const others = membersOf(made).filter((member) => !NAMES.includes(member))
  const given = closest('save', others.map(camelCase))
  const near = others.find((member) => camelCase(member) === given)
  return near === undefined ? '' : ` It has '${near}': did you mean 'save'?`
}

/** Return the names of an object's own and inherited members. */
function membersOf(made: object): string[] {
  const found = new Set<string>()
  for (let at: object | null = made; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const member of Object.getOwnPropertyNames(at)) found.add(member)
  return [...found]
}

/** Convert a name to camel case, since returners of Python Salt use names like `prep_jid`. */
const camelCase = (member: string): string =>
  member.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const failed = (name: string, reason: string) =>
  new SaltError('MODULE_FAILED', `The returner ${name} cannot be used: ${sentence(reason)}`, { name })
