import { maskSecretWords } from '../../base/secret-words.ts'
import { arePythonGrains } from '../../cache/minion-data.ts'
import { callsOf, type PredictedCall, predictCall, suggestName } from '../../loader/calls/check-call.ts'
import { readSentence } from '../../loader/describe/read-catalogue.ts'
import { type Catalogue, maskArguments } from '../../loader/index.ts'
import type { PublishLoad } from '../../wire/publish-request.ts'
import type { WorkerContext } from '../worker/context.ts'
import { knownCatalogues } from './known-catalogues.ts'

/** Minions that reported the same catalogue; those that reported none form one group. */
export interface OfferedCatalogue {
  readonly minions: readonly string[]
  /** Undefined if they reported none. */
  readonly hash: string | undefined
  /** Undefined if it is not stored. */
  readonly catalogue: Catalogue | undefined
}

/** Minions that would treat a job alike. */
export interface PreflightGroup {
  readonly minions: readonly string[]
  /** One for each function of the job; undefined if the functions of the minions are not known. */
  readonly calls: readonly (PredictedCall & { readonly hint?: string })[] | undefined
  /** True if they run Python Salt. */
  readonly python: boolean
}

type Job = Pick<PublishLoad, 'fun' | 'arg' | 'words'>

/** Group the minions by the catalogue that they have reported. */
export function offeredCatalogues(
  { catalogues }: Pick<WorkerContext, 'catalogues'>,
  ids: readonly string[],
): OfferedCatalogue[] {
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

/** Predict what minions would do with a job, by their catalogues. */
export function preflightJob(job: Job, offers: readonly OfferedCatalogue[]): PreflightGroup[] {
  return offers.map(({ minions, catalogue }) => {
    const calls = catalogue && callsOf(job).map((call) => withHint(call, catalogue))
    return { minions, calls, python: catalogue?.python === true }
  })
}

/**
 * Return the arguments of a job with secrets masked: those that are secret to the master or to one of the minions. All are
 * masked if a minion of salt-ts may have a function whose parameters are not known yet.
 */
export async function maskedJobArguments(
  context: Pick<WorkerContext, 'config' | 'minions' | 'paramsOf'>,
  { fun, arg }: Job,
  offers: readonly OfferedCatalogue[],
): Promise<readonly unknown[]> {
  if (arg.length === 0) return arg
  let shown = await maskArguments({ fun, arg }, context.paramsOf)
  for (const offer of offers)
    shown = await maskArguments({ fun, arg: shown }, async (name) => {
      if (isKnown(offer, name)) return offer.catalogue?.functions[name] ?? undefined
      if (offer.hash !== undefined && !offer.catalogue) throw new Error('its catalogue is not stored')
      if (!(await context.paramsOf(name)) && isOfOurs(context, offer))
        throw new Error('the function is not known')
      return undefined
    })
  return maskSecretWords(shown, context.config)
}

/** Whether the catalogue says which parameters of the function are secret. False if its declaration cannot be read. */
function isKnown({ catalogue }: OfferedCatalogue, name: string): boolean {
  if (!catalogue || !Object.hasOwn(catalogue.functions, name)) return false
  return catalogue.unreadable?.has(name) !== true
}

/** Maximum number of minions without a catalogue that are examined: large groups of them are minions of Python Salt. */
const MAX_MINIONS = 100

/** Whether there is a minion of salt-ts among those of the offer. */
function isOfOurs({ minions }: Pick<WorkerContext, 'minions'>, offer: OfferedCatalogue): boolean {
  if (offer.catalogue) return !offer.catalogue.python
  const grains = offer.minions.slice(0, MAX_MINIONS).map((id) => minions.grains(id))
  return grains.some((known) => known !== undefined && !arePythonGrains(known))
}

function withHint(call: ReturnType<typeof callsOf>[number], catalogue: Catalogue) {
  const predicted = predictCall(call, catalogue)
  if (!('refusal' in predicted)) return predicted
  const hint = suggestName(call, catalogue)
  return { refusal: readSentence(predicted.refusal), ...(hint !== undefined && { hint: readSentence(hint) }) }
}

export const withDidYouMean = (sentence: string, hint: string | undefined): string =>
  hint === undefined ? sentence : `${sentence.replace(/\.$/, '')}. Did you mean '${hint}'?`
