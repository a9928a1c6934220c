import { createHash } from 'node:crypto'
import { isRecord } from '../base/record.ts'

/**
 * A minion's report of the functions it offers, so that the master can refuse jobs that cannot work. The requests
 * `_catalogue` and `_verdict` are additions of salt-ts; masters of Python Salt do not support them.
 */
export interface CatalogueReport {
  /** Undefined if the minion cannot describe its functions, or the catalogue is too large. */
  readonly hash: string | undefined
  /** The catalogue as JSON; sent only if the master does not have one with this hash. */
  readonly text?: string
}

/** Largest catalogue; what comes with salt-ts takes a quarter of it. */
export const MAX_CATALOGUE_BYTES = 2 * 1024 * 1024

/** The function of a publication that requests a check of the calls in it. No module can have this name. */
export const CHECK_FUNCTION = '_check'

export const catalogueHash = (text: string): string => createHash('sha256').update(text).digest('hex')

export function makeCatalogueReport(id: string, { hash, text }: CatalogueReport): Record<string, unknown> {
  return { cmd: '_catalogue', id, hash: hash ?? null, ...(text !== undefined && { catalogue: text }) }
}

/** Read a report; undefined unless the hash is well-formed and, if there is a text, that of the text. */
export function readCatalogueReport(load: Readonly<Record<string, unknown>>): CatalogueReport | undefined {
  const { hash, catalogue: text } = load
  if (hash === null) return { hash: undefined }
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined
  if (text === undefined) return { hash }
  if (
    typeof text !== 'string' ||
    Buffer.byteLength(text) > MAX_CATALOGUE_BYTES ||
    catalogueHash(text) !== hash
  )
    return undefined
  return { hash, text }
}

/**
 * Make the request that finds out whether a master accepts reports. It is one that every master answers: Python Salt logs
 * an error for an unknown command.
 */
export const makeCatalogueSupportRequest = (id: string): Record<string, unknown> => ({
  cmd: '_master_opts',
  id,
  env_only: true,
  catalogues: true,
})
export const asksForCatalogueSupport = (load: Readonly<Record<string, unknown>>): boolean =>
  load.catalogues === true
export const catalogueSupport = { catalogues: true } as const
export const supportsCatalogues = (answer: unknown): boolean => isRecord(answer) && answer.catalogues === true

/** Whether the master has the catalogue, by its answer to a report. */
export const masterHasCatalogue = (answer: unknown): boolean => !isRecord(answer) || answer.known !== false

/** A minion's answer to a check of calls: for each call the reason why it would be refused, or null. */
export interface CallCheckReport {
  readonly jid: string
  readonly refusals: readonly (string | null)[]
}

export function makeCallCheckReport(id: string, { jid, refusals }: CallCheckReport): Record<string, unknown> {
  return { cmd: '_verdict', id, jid, refusals }
}

/** Suffix of the ids of `sys.argspec` requests to Python minions, whose answers are returns. No job id has it. */
const ARGSPEC_SUFFIX = '_argspec'
export const argspecRequestId = (jid: string): string => `${jid}${ARGSPEC_SUFFIX}`
export const isArgspecReturn = ({ jid, fun }: Readonly<Record<string, unknown>>): boolean =>
  fun === 'sys.argspec' && typeof jid === 'string' && jid.endsWith(ARGSPEC_SUFFIX)

export function readCallCheckReport(load: Readonly<Record<string, unknown>>): CallCheckReport | undefined {
  const { jid, refusals } = load
  if (typeof jid !== 'string' || jid.length > 64 || !Array.isArray(refusals) || refusals.length > 100)
    return undefined
  const texts = refusals.map((text) => (typeof text === 'string' ? text.slice(0, 1000) : null))
  return { jid, refusals: texts }
}
