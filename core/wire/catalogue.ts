import { createHash } from 'node:crypto'
import { isRecord } from './bytes.ts'

/**
 * What a minion of salt-ts tells its master of the functions it offers, so that the master can refuse what cannot work.
 * These are requests of our own (`_catalogue`, `_verdict`), which masters of Python Salt do not know.
 */
export interface CatalogueReport {
  /** Undefined if what it offers is not known: to itself, or because it is too much to be told. */
  readonly hash: string | undefined
  /** JSON; only sent where the master does not know the hash. */
  readonly text?: string
}

/** A catalogue is text of at most so many bytes. */
export const CATALOGUE_BYTES = 512 * 1024

/** The function of a publication that asks its minions what they would do with the calls in it. No module can have it. */
export const CHECK = '_check'

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export function makeCatalogueReport(id: string, { hash, text }: CatalogueReport): Record<string, unknown> {
  return { cmd: '_catalogue', id, hash: hash ?? null, ...(text !== undefined && { catalogue: text }) }
}

/** Undefined unless the hash is one, and that of the text if there is one. */
export function readCatalogueReport(load: Readonly<Record<string, unknown>>): CatalogueReport | undefined {
  const { hash, catalogue: text } = load
  if (hash === null) return { hash: undefined }
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined
  if (text === undefined) return { hash }
  if (typeof text !== 'string' || Buffer.byteLength(text) > CATALOGUE_BYTES || hashOf(text) !== hash)
    return undefined
  return { hash, text }
}

/**
 * Whether a master takes reports is asked with a request that every master answers: one of Python Salt would write an
 * error to its log for a command that it does not know.
 */
export const makeReportsQuestion = (id: string): Record<string, unknown> => ({
  cmd: '_master_opts',
  id,
  env_only: true,
  catalogues: true,
})
export const asksForReports = (load: Readonly<Record<string, unknown>>): boolean => load.catalogues === true
export const takesReports = { catalogues: true } as const
export const readReportsAnswer = (answer: unknown): boolean => isRecord(answer) && answer.catalogues === true

/** What the master answers to a report: whether it has the catalogue now. */
export const isKnown = (answer: unknown): boolean => !isRecord(answer) || answer.known !== false

/** What a minion says it would do with the calls of a check: for each why it would refuse it, or null. */
export interface Verdict {
  readonly jid: string
  readonly refusals: readonly (string | null)[]
}

export function makeVerdict(id: string, { jid, refusals }: Verdict): Record<string, unknown> {
  return { cmd: '_verdict', id, jid, refusals }
}

/** Mark of the ids of questions to Python minions, whose answers are returns: no job has it. */
const QUESTION = '_argspec'
export const questionId = (jid: string): string => `${jid}${QUESTION}`
export const isAnswer = ({ jid, fun }: Readonly<Record<string, unknown>>): boolean =>
  fun === 'sys.argspec' && typeof jid === 'string' && jid.endsWith(QUESTION)

export function readVerdict(load: Readonly<Record<string, unknown>>): Verdict | undefined {
  const { jid, refusals } = load
  if (typeof jid !== 'string' || jid.length > 64 || !Array.isArray(refusals) || refusals.length > 100)
    return undefined
  const texts = refusals.map((text) => (typeof text === 'string' ? text.slice(0, 1000) : null))
  return { jid, refusals: texts }
}
