/**
 * The index of the search, by MiniSearch (0.9 MB, no dependencies). It is a script, since pages that are opened from a disk may
 * load no data.
 */
import MiniSearch from 'minisearch'
import type { Site } from './page.ts'

/** How pages are indexed and searched; `assets/search.js` gets this with the index. */
const searchOptions = {
  fields: ['title', 'text'],
  storeFields: ['title', 'page', 'summary'],
  searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { title: 4 } },
} as const

const SUMMARY_LENGTH = 140

/** Return the script that defines the index and its options. */
export function searchIndexScript({ pages }: Site): string {
  const index = new MiniSearch<object>({
    ...searchOptions,
    fields: [...searchOptions.fields],
    storeFields: [...searchOptions.storeFields],
  })
  for (const { title: page, entries } of pages)
    for (const { id, title, text } of entries)
      if (!index.has(id)) index.add({ id, title, page, text, summary: text.slice(0, SUMMARY_LENGTH) })
  const json = JSON.stringify(JSON.stringify(index))
  return `globalThis.searchIndex = ${json}\nglobalThis.searchOptions = ${JSON.stringify(searchOptions)}\n`
}
