import { isFn } from '../author/fn.ts'
import type { Virtual } from '../author/kinds.ts'
import { messageOf } from '../base/errors.ts'
import type { Namespace } from './import-file.ts'

export interface Facts {
  readonly grains: Readonly<Record<string, unknown>>
  readonly opts: Readonly<Record<string, unknown>>
}

/** What a file says about itself once it is imported. */
export interface Offer {
  /** Names users know it by. */
  readonly names: readonly string[]
  /** Why it is not offered. `virtual`: it decided so itself, with or without a reason; else something failed. */
  readonly refusal?: { readonly by: 'virtual' | 'failure'; readonly reason?: string }
}

/** Run `init`, then `virtual`, and read the names. */
export async function askOffer(
  namespace: Namespace,
  name: string,
  path: string,
  facts: Facts,
): Promise<Offer> {
  const names = namesOf(namespace, name)
  try {
    if (isConvention(namespace.init)) await namespace.init(facts)
  } catch (error) {
    return { names, refusal: { by: 'failure', reason: `${path}: init failed: ${messageOf(error)}` } }
  }
  try {
    return { names, ...verdict(await askVirtual(namespace.virtual, facts)) }
  } catch (error) {
    return { names, refusal: { by: 'failure', reason: `${path}: virtual failed: ${messageOf(error)}` } }
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
