import { readdir } from 'node:fs/promises'
import { fnmatch } from '../dialect/fnmatch.ts'
import { type KeyState, keyFolders } from './key-files.ts'
import type { KeySelection, KeyStore } from './key-store.ts'

/** Salt's name of a state: the name of its folder. */
type KeySection = (typeof keyFolders)[KeyState]

/** Ids by section, in the order Salt shows them. `local` lists the files of the master's own keys. */
export type KeysBySection = { [S in KeySection | 'local']?: string[] }

/** The states in the order Salt lists them. */
const STATES: readonly KeyState[] = ['accepted', 'pending', 'rejected', 'denied']

/** Shortest accepted prefixes of the words of `salt-key -l`. */
const WORDS: readonly (readonly [start: string, states: readonly KeyState[]])[] = [
  ['acc', ['accepted']],
  ['pre', ['pending']],
  ['un', ['pending']],
  ['rej', ['rejected']],
  ['den', ['denied']],
  ['all', STATES],
]

/** List keys by a word of `salt-key -l`: `pre`, `acc`, `all`, …. Undefined for an unknown word. */
export async function listKeys(store: KeyStore, word: string): Promise<KeysBySection | undefined> {
  const states = WORDS.find(([start]) => word.startsWith(start))?.[1]
  return states && listsOf(store, states)
}

/** List all keys, including the master's own files. */
export async function allKeys(store: KeyStore, pkiDir: string): Promise<KeysBySection> {
  return { ...(await listsOf(store, STATES)), local: await localKeys(pkiDir) }
}

/** List the key files of the master itself: `master.pem`, `master.pub`, …. */
async function localKeys(pkiDir: string): Promise<string[]> {
  const entries = await readdir(pkiDir, { withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && /\.(pem|pub)$/.test(entry.name))
  return inOrder(files.map(({ name }) => name))
}

/** List the keys that match a shell pattern, or one of several separated by commas. Empty sections are left out. */
export async function matchKeys(store: KeyStore, match: string): Promise<KeysBySection> {
  return matching(await listsOf(store, STATES), match)
}

/** List the keys that match, including the master's own files. */
export async function matchAllKeys(store: KeyStore, match: string, pkiDir: string): Promise<KeysBySection> {
  return matching(await allKeys(store, pkiDir), match)
}

/** Return the section that each of the named keys is in now. */
export async function locateKeys(store: KeyStore, ids: readonly string[]): Promise<KeysBySection> {
  return filtered(await listsOf(store, STATES), (id) => ids.includes(id))
}

/** Convert Salt's sections to a selection by state; other sections are ignored. */
export function selectionOf(lists: Readonly<Partial<Record<string, readonly string[]>>>): KeySelection {
  const named = STATES.map((state) => [state, lists[keyFolders[state]]] as const)
  return Object.fromEntries(named.filter(([, ids]) => ids !== undefined))
}

async function listsOf(store: KeyStore, states: readonly KeyState[]): Promise<KeysBySection> {
  const lists = states.map(async (state) => [keyFolders[state], inOrder(await store.list(state))])
  return Object.fromEntries(await Promise.all(lists))
}

function matching(lists: KeysBySection, match: string): KeysBySection {
  const patterns = match.split(',')
  return filtered(lists, (id) => patterns.some((pattern) => fnmatch(id, pattern)))
}

function filtered(lists: KeysBySection, wanted: (id: string) => boolean): KeysBySection {
  const left = Object.entries(lists).map(([section, ids]) => [section, ids.filter(wanted)] as const)
  return Object.fromEntries(left.filter(([, ids]) => ids.length > 0))
}

/** Sort as Salt does, ignoring case. */
function inOrder(names: readonly string[]): string[] {
  const lower = names.map((name) => [name.toLowerCase(), name] as const)
  return lower.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, name]) => name)
}

/** Return the states of the keys that are not accepted, by id. */
export async function otherKeys(
  keys: Pick<KeyStore, 'list'>,
): Promise<Map<string, 'pending' | 'rejected' | 'denied'>> {
  const { accepted, pending, rejected, denied } = await keys.list()
  const states = new Map([
    ...denied.map((id) => [id, 'denied'] as const),
    ...rejected.map((id) => [id, 'rejected'] as const),
    ...pending.map((id) => [id, 'pending'] as const),
  ])
  for (const id of accepted) states.delete(id)
  return states
}
