import { maskSecretWords } from '../base/secret-words.ts'
import { callsOf, type Foreseen, foresee, meantInstead } from '../loader/check-call.ts'
import { type Catalogue, maskArguments } from '../loader/index.ts'
import { readSentence } from '../loader/read-catalogue.ts'
import type { PublishLoad } from '../wire/publish-request.ts'
import { knownCatalogues } from './known-catalogues.ts'
import type { WorkerRoom } from './room.ts'

/** Minions that said they offer the same; those that said nothing are together. */
export interface Offer {
  readonly minions: readonly string[]
  /** Undefined if they said nothing. */
  readonly hash: string | undefined
  /** Undefined if it cannot be had. */
  readonly catalogue: Catalogue | undefined
}

/** Minions that would do the same with a job. */
export interface Group {
  readonly minions: readonly string[]
  /** For each function of the job; undefined where nobody knows what the minions offer. */
  readonly calls: readonly (Foreseen & { readonly hint?: string })[] | undefined
  /** They are of Python Salt. */
  readonly python: boolean
}

type Job = Pick<PublishLoad, 'fun' | 'arg' | 'words'>

/** What each of the minions offers. */
export function offersOf({ catalogues }: Pick<WorkerRoom, 'catalogues'>, ids: readonly string[]): Offer[] {
  const byHash = new Map<string | undefined, string[]>()
  for (const id of ids) {
    const hash = catalogues.hash(id)
    const minions = byHash.get(hash)
    if (minions) minions.push(id)
    else byHash.set(hash, [id])
  }
  const hashes = Array.from(byHash.keys()).filter((hash) => hash !== undefined)
  const known = knownCatalogues(catalogues, hashes)
  return Array.from(byHash, ([hash, minions]) => ({
    minions,
    hash,
    catalogue: hash === undefined ? undefined : known.get(hash),
  }))
}

/** What minions would do with a job, by what they offer. */
export function foreseeJob(job: Job, offers: readonly Offer[]): Group[] {
  return offers.map(({ minions, catalogue }) => {
    const calls = catalogue && callsOf(job).map((call) => withHint(call, catalogue))
    return { minions, calls, python: catalogue?.python === true }
  })
}

/**
 * The arguments of a job as they may be shown, with what is secret to the master or to one of its minions masked: all of
 * them where a minion of salt-ts may have a function of which nobody knows yet what is secret.
 */
export async function shownTo(
  room: Pick<WorkerRoom, 'config' | 'minions' | 'paramsOf'>,
  { fun, arg }: Job,
  offers: readonly Offer[],
): Promise<readonly unknown[]> {
  if (arg.length === 0) return arg
  let shown = await maskArguments({ fun, arg }, room.paramsOf)
  for (const offer of offers)
    shown = await maskArguments({ fun, arg: shown }, async (name) => {
      if (isKnown(offer, name)) return offer.catalogue?.functions[name] ?? undefined
      if (offer.hash !== undefined && !offer.catalogue) throw new Error('its catalogue cannot be had')
      if (!(await room.paramsOf(name)) && isOfOurs(room, offer)) throw new Error('nobody knows the function')
      return undefined
    })
  return maskSecretWords(shown, room.config)
}

/** Functions without declared parameters have no secrets; whoever declares some in a form of its own may have. */
function isKnown({ catalogue }: Offer, name: string): boolean {
  if (!catalogue || !Object.hasOwn(catalogue.functions, name)) return false
  return catalogue.unreadable?.has(name) !== true
}

/** Of those that said nothing so many are looked at: there are many only where they are of Python Salt. */
const MOST_LOOKED_AT = 100

/** Whether there is a minion of salt-ts among them. */
function isOfOurs({ minions }: Pick<WorkerRoom, 'minions'>, offer: Offer): boolean {
  if (offer.catalogue) return !offer.catalogue.python
  const grains = offer.minions.slice(0, MOST_LOOKED_AT).map((id) => minions.grains(id))
  return grains.some((known) => known !== undefined && known.pythonversion === undefined)
}

function withHint(call: ReturnType<typeof callsOf>[number], catalogue: Catalogue) {
  const foreseen = foresee(call, catalogue)
  if (!('refusal' in foreseen)) return foreseen
  const hint = meantInstead(call, catalogue)
  return { refusal: readSentence(foreseen.refusal), ...(hint !== undefined && { hint: readSentence(hint) }) }
}

export const withDidYouMean = (sentence: string, hint: string | undefined): string =>
  hint === undefined ? sentence : `${sentence.replace(/\.$/, '')}. Did you mean '${hint}'?`
