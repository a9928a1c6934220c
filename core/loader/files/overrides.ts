/** Users' files that replace built-in ones. As in Salt, a file replaces another as a whole, not function by function. */

import type { Kind } from '../kinds.ts'
import type { HiddenFile, Listing } from './index-files.ts'
import { factsAbout } from './manifest.ts'

/** Functions that a warning lists, at most. */
const MAX_NAMED = 5

export interface Override {
  /** The file that is used. */
  readonly path: string
  readonly sentence: string
}

/** List the users' files that replace built-in ones. Nothing is imported. */
export function overridesIn(kind: Kind, { hidden }: Pick<Listing, 'hidden'>): Promise<Override[]> {
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
  const more = lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : ''
  return `${sentence}, and lacks some of its functions: ${lost.slice(0, MAX_NAMED).join(', ')}${more} are not available.`
}

/** List the functions of the built-in file that the other lacks, as far as its text shows. */
async function lostFunctions(kind: Kind, hidden: HiddenFile): Promise<string[]> {
  const [instead, own] = await Promise.all([factsAbout(kind, hidden.by), factsAbout(kind, hidden)])
  if (instead.functions === undefined) return []
  return (own.functions ?? [])
    .filter((name) => !instead.functions?.includes(name))
    .map((name) => `${hidden.name}.${name}`)
}
