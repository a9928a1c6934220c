import { readdir } from 'node:fs/promises'
import { fnmatch } from '../base/fnmatch.ts'
import { type KeyState, keyFolders } from './key-files.ts'
import type { KeySelection, KeyStore } from './key-store.ts'

/** Salt's name of a state: that of its folder. */
type KeySection = (typeof keyFolders)[KeyState]

/** Section → ids in order, as Salt shows keys. `local` are files of the master's own keys. */
export type KeyLists = { [S in KeySection | 'local']?: string[] }

/** In Salt's order. */
const STATES: readonly KeyState[] = ['accepted', 'pending', 'rejected', 'denied']

/** Words of `salt-key -l`, as far as they have to be typed. */
const WORDS: readonly (readonly [start: string, states: readonly KeyState[]])[] = [
  ['acc', ['accepted']],
  ['pre', ['pending']],
  ['un', ['pending']],
  ['rej', ['rejected']],
  ['den', ['denied']],
  ['all', STATES],
]

/** Keys by a word of `salt-key -l`: `pre`, `acc`, `all`, …; undefined for a word that is none. */
export async function listKeys(store: KeyStore, word: string): Promise<KeyLists | undefined> {
  const states = WORDS.find(([start]) => word.startsWith(start))?.[1]
  return states && listsOf(store, states)
}

/** All keys, the master's own files too. */
export async function allKeys(store: KeyStore, pkiDir: string): Promise<KeyLists> {
  return { ...(await listsOf(store, STATES)), local: await localKeys(pkiDir) }
}

/** Files of keys that are not a minion's: `master.pem`, `master.pub`, …. */
async function localKeys(pkiDir: string): Promise<string[]> {
  const entries = await readdir(pkiDir, { withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && /\.(pem|pub)$/.test(entry.name))
  return inOrder(files.map(({ name }) => name))
}

/** Keys that a shell pattern means, or one of several that are separated by commas. Empty sections are left out. */
export async function matchKeys(store: KeyStore, match: string): Promise<KeyLists> {
  return meantOf(await listsOf(store, STATES), match)
}

/** The same among the master's own files as well. */
export async function matchAllKeys(store: KeyStore, match: string, pkiDir: string): Promise<KeyLists> {
  return meantOf(await allKeys(store, pkiDir), match)
}

/** In which state the named keys are now. */
export async function whereKeysAre(store: KeyStore, ids: readonly string[]): Promise<KeyLists> {
  return filtered(await listsOf(store, STATES), (id) => ids.includes(id))
}

/** Of lists as Salt writes them; what is no section of minions is left out. */
export function selectionOf(lists: Readonly<Partial<Record<string, readonly string[]>>>): KeySelection {
  const named = STATES.map((state) => [state, lists[keyFolders[state]]] as const)
  return Object.fromEntries(named.filter(([, ids]) => ids !== undefined))
}

async function listsOf(store: KeyStore, states: readonly KeyState[]): Promise<KeyLists> {
  const lists = states.map(async (state) => [keyFolders[state], inOrder(await store.list(state))])
  return Object.fromEntries(await Promise.all(lists))
}

function meantOf(lists: KeyLists, match: string): KeyLists {
  const patterns = match.split(',')
  return filtered(lists, (id) => patterns.some((pattern) => fnmatch(id, pattern)))
}

function filtered(lists: KeyLists, wanted: (id: string) => boolean): KeyLists {
  const left = Object.entries(lists).map(([section, ids]) => [section, ids.filter(wanted)] as const)
  return Object.fromEntries(left.filter(([, ids]) => ids.length > 0))
}

/** As Salt sorts: upper and lower case alike. */
function inOrder(names: readonly string[]): string[] {
  const lower = names.map((name) => [name.toLowerCase(), name] as const)
  return lower.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, name]) => name)
}
