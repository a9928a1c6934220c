import { readCatalogue } from '../../loader/describe/read-catalogue.ts'
import type { Catalogue } from '../../loader/index.ts'
import type { WorkerContext } from '../worker/context.ts'

type Texts = Pick<WorkerContext['catalogues'], 'text'>

/** Limits the text of catalogues that are kept parsed, and that are read for one job, so that nobody can fill the memory. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
/** Parsed catalogues by the hash of their text, the most recently used last. */
const parsed = new Map<string, { readonly catalogue: Catalogue | undefined; readonly size: number }>()

/** Return catalogues by their hash, as far as they are stored and fit the limit. */
export function knownCatalogues(texts: Texts, hashes: readonly string[]): Map<string, Catalogue> {
  const found = new Map<string, Catalogue>()
  let bytesLeft = MAX_TEXT_BYTES
  for (const hash of hashes) {
    const entry = entryOf(texts, hash, bytesLeft)
    bytesLeft -= entry?.size ?? 0
    if (entry?.catalogue) found.set(hash, entry.catalogue)
  }
  return found
}

/** Return the parsed catalogue; undefined if it is not stored or larger than `maxBytes`. */
function entryOf(texts: Texts, hash: string, maxBytes: number) {
  const known = parsed.get(hash)
  if (known) {
    parsed.delete(hash)
    parsed.set(hash, known)
    return known.size > maxBytes ? undefined : known
  }
  const text = texts.text(hash)
  if (text === undefined || text.length > maxBytes) return undefined
  const entry = { catalogue: readCatalogue(text), size: text.length }
  forget(entry.size)
  parsed.set(hash, entry)
  return entry
}

/** Drop the least recently used catalogues until `needed` bytes fit. */
function forget(needed: number): void {
  let kept = needed
  for (const { size } of parsed.values()) kept += size
  for (const [hash, { size }] of parsed) {
    if (kept <= MAX_TEXT_BYTES) return
    parsed.delete(hash)
    kept -= size
  }
}
