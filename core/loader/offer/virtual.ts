import { isFn } from '../../author/fn.ts'
import type { LoadFacts, Virtual } from '../../author/kinds.ts'
import { messageOf } from '../../base/errors.ts'
import type { Namespace } from '../files/import-file.ts'
import { typeInWords } from '../kind-of.ts'
import { type DependencyFacts, missingDependencies } from './depends.ts'

/** Facts for files that are being loaded. */
export type FileLoadFacts = LoadFacts

/** Whether an imported file is offered, and under which names. */
export interface Availability {
  /** Its names for users. */
  readonly names: readonly string[]
  /** Why it is not offered. `virtual`: it refused, with or without a reason; `failure`: an error occurred. */
  readonly refusal?: { readonly by: 'virtual' | 'failure'; readonly reason?: string }
  /** Reasons by name, for functions that are not offered because a dependency is missing. */
  readonly absent?: ReadonlyMap<string, string>
  /** Replacements for such functions, by name. */
  readonly fallbacks?: ReadonlyMap<string, unknown>
}

/** Call `init`, then `virtual`, check the dependencies, and read the names. */
export async function askAvailability(
  namespace: Namespace,
  name: string,
  facts: FileLoadFacts,
  path: string,
): Promise<Availability> {
  const names = namesOf(namespace, name)
  const malformed = malformedName(namespace)
  if (malformed !== undefined) return { names, refusal: { by: 'failure', reason: `${path}: ${malformed}` } }
  const failed = (what: string, error: unknown): Availability => ({
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

type Convention = (facts: FileLoadFacts) => unknown
/** Whether an export is a plain function; one made by `fn` is a function for users. */
const isConvention = (value: unknown): value is Convention => typeof value === 'function'

/** Resolve with what `virtual` answers. Rejects for an answer that is neither a boolean nor a text. */
async function askVirtual(virtual: unknown, facts: FileLoadFacts): Promise<unknown> {
  if (virtual === undefined || isFn(virtual)) return true
  const answer: unknown = await (typeof virtual === 'function' ? (virtual as Virtual)(facts) : virtual)
  if (typeof answer === 'boolean' || typeof answer === 'string') return answer
  throw new Error(`it gives ${typeInWords(answer)}, not true, false or a text with the reason`)
}

/** Read the result of `virtual`: anything but true is a refusal, and a text is its reason. */
function verdict(answer: unknown): Pick<Availability, 'refusal'> {
  if (answer === true) return {}
  return {
    refusal: { by: 'virtual', ...(typeof answer === 'string' && answer !== '' && { reason: answer }) },
  }
}

/** Return a sentence about a name that is not text. A function for users may have the name of a convention. */
function malformedName({ virtualName, virtualAliases }: Namespace): string | undefined {
  const isText = (value: unknown) => typeof value === 'string'
  if (virtualName !== undefined && !isText(virtualName) && !isFn(virtualName))
    return `virtualName failed: it is ${typeInWords(virtualName)}, not text`
  if (virtualAliases === undefined || isFn(virtualAliases)) return undefined
  if (Array.isArray(virtualAliases) && virtualAliases.every(isText)) return undefined
  return 'virtualAliases failed: it is not a list of texts'
}

/** Return the names that users have for a file: those it exports, or its own. */
export function namesOf(namespace: Namespace, name: string): string[] {
  const own = typeof namespace.virtualName === 'string' ? namespace.virtualName : name
  const aliases = Array.isArray(namespace.virtualAliases) ? namespace.virtualAliases : []
  return [own, ...aliases.filter((alias): alias is string => typeof alias === 'string')]
}
