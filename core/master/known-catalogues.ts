import type { Catalogue } from '../loader/index.ts'
import { readCatalogue } from '../loader/read-catalogue.ts'
import type { WorkerRoom } from './room.ts'

type Texts = Pick<WorkerRoom['catalogues'], 'text'>

/** Text of so many catalogues is kept parsed, and looked at for one job, so that nobody can fill the memory. */
const MOST_TEXT = 16 * 1024 * 1024
/** By hash, which is that of the text; what was wanted last comes last. */
const parsed = new Map<string, { readonly catalogue: Catalogue | undefined; readonly size: number }>()

/** Catalogues by their hash, as far as they can be had. */
export function knownCatalogues(texts: Texts, hashes: readonly string[]): Map<string, Catalogue> {
  const found = new Map<string, Catalogue>()
  let room = MOST_TEXT
  for (const hash of hashes) {
    const entry = entryOf(texts, hash, room)
    room -= entry?.size ?? 0
    if (entry?.catalogue) found.set(hash, entry.catalogue)
  }
  return found
}

/** One that is larger than `room` is not looked at. */
function entryOf(texts: Texts, hash: string, room: number) {
  const known = parsed.get(hash)
  if (known) {
    parsed.delete(hash)
    parsed.set(hash, known)
    return known.size > room ? undefined : known
  }
  const text = texts.text(hash)
  if (text === undefined || text.length > room) return undefined
  const entry = { catalogue: readCatalogue(text), size: text.length }
  forget(entry.size)
  parsed.set(hash, entry)
  return entry
}

/** Those that were wanted longest ago, until there is room. */
function forget(needed: number): void {
  let kept = needed
  for (const { size } of parsed.values()) kept += size
  for (const [hash, { size }] of parsed) {
    if (kept <= MOST_TEXT) return
    parsed.delete(hash)
    kept -= size
  }
}
