/** Files of users in the place of built-in ones: as in Salt a file replaces the whole of another, not function by function. */
import type { HiddenFile, Listing } from './index-files.ts'
import type { Kind } from './kinds.ts'
import { factsAbout } from './manifest.ts'

/** The number of functions that a warning names. */
const MOST_NAMED = 5

export interface Override {
  /** The file that is used. */
  readonly path: string
  readonly sentence: string
}

/** Every file of a user that stands in the place of a built-in one. Nothing is imported. */
export function overridesIn(kind: Kind, { hidden }: Listing): Promise<Override[]> {
  const instead = hidden.filter(({ builtIn, by }) => builtIn && !by.builtIn && by.excluded === undefined)
  return Promise.all(
    instead.map(async (file) => ({ path: file.by.path, sentence: await overrideSentence(kind, file) })),
  )
}

export async function overrideSentence(kind: Kind, hidden: HiddenFile): Promise<string> {
  const { by, name } = hidden
  const sentence = `${by.path} is used instead of the built-in ${name} of the ${kind.name}`
  const lost = kind.shape === 'functions' ? await lostFunctions(kind, hidden) : []
  if (lost.length === 0) return `${sentence}.`
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : ''
  return `${sentence}, and has not all of its functions: ${lost.slice(0, MOST_NAMED).join(', ')}${more} are not available.`
}

/** What the built-in file offers and the other, as far as its text tells, does not. */
async function lostFunctions(kind: Kind, hidden: HiddenFile): Promise<string[]> {
  const [instead, own] = await Promise.all([factsAbout(kind, hidden.by), factsAbout(kind, hidden)])
  if (instead.functions === undefined) return []
  return (own.functions ?? [])
    .filter((name) => !instead.functions?.includes(name))
    .map((name) => `${hidden.name}.${name}`)
}
