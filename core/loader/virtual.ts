import { isFn } from '../author/fn.ts'
import type { LoadFacts, Virtual } from '../author/kinds.ts'
import { messageOf } from '../base/errors.ts'
import { type DependencyFacts, missingDependencies } from './depends.ts'
import type { Namespace } from './import-file.ts'

/** What files are told that are loaded. */
export type Facts = LoadFacts

/** What a file says about itself once it is imported. */
export interface Offer {
  /** Names users know it by. */
  readonly names: readonly string[]
  /** Why it is not offered. `virtual`: it decided so itself, with or without a reason; else something failed. */
  readonly refusal?: { readonly by: 'virtual' | 'failure'; readonly reason?: string }
  /** Functions that are not offered because something they need is missing, with the reason. */
  readonly absent?: ReadonlyMap<string, string>
  /** What answers in the place of such functions. */
  readonly fallbacks?: ReadonlyMap<string, unknown>
}

/** Run `init`, then `virtual`, look for what it depends on, and read the names. */
export async function askOffer(
  namespace: Namespace,
  name: string,
  facts: Facts,
  path: string,
): Promise<Offer> {
  const names = namesOf(namespace, name)
  const failed = (what: string, error: unknown): Offer => ({
    names,
    refusal: { by: 'failure', reason: `${path}: ${what} failed: ${messageOf(error)}` },
  })
  try {
    if (isConvention(namespace.init)) await namespace.init(facts)
  } catch (error) {
    return failed('init', error)
  }
  try {
    const answer = verdict(await askVirtual(namespace.virtual, facts))
    if (answer.refusal) return { names, ...answer }
  } catch (error) {
    return failed('virtual', error)
  }
  try {
    const dependencies: DependencyFacts = { path, hasFunction: facts.has }
    const { file, functions, fallbacks } = await missingDependencies(namespace.dependsOn, dependencies)
    return { names, absent: functions, fallbacks, ...(file !== undefined && verdict(file)) }
  } catch (error) {
    return failed('dependsOn', error)
  }
}

type Convention = (facts: Facts) => unknown
/** A plain function; one made by `fn` belongs to the users. */
const isConvention = (value: unknown): value is Convention => typeof value === 'function'

function askVirtual(virtual: unknown, facts: Facts): unknown {
  if (virtual === undefined || isFn(virtual)) return true
  return typeof virtual === 'function' ? (virtual as Virtual)(facts) : virtual
}

/** A sentence is the reason; anything but true is a refusal. */
function verdict(answer: unknown): Pick<Offer, 'refusal'> {
  if (answer === true) return {}
  return {
    refusal: { by: 'virtual', ...(typeof answer === 'string' && answer !== '' && { reason: answer }) },
  }
}

function namesOf(namespace: Namespace, name: string): string[] {
  const own = typeof namespace.virtualName === 'string' ? namespace.virtualName : name
  const aliases = Array.isArray(namespace.virtualAliases) ? namespace.virtualAliases : []
  return [own, ...aliases.filter((alias): alias is string => typeof alias === 'string')]
}
