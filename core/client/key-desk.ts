import { type KeyChange, type KeyLists, type KeyState, keyFolders, selectionOf } from '../keys/index.ts'
import type { KeyClient } from './key-client.ts'

/** Section → id → PEM text or fingerprint. */
export type KeyTexts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** What became of one key: done, or why not. */
export type KeyOutcome = Pick<KeyChange, 'refused'> & { readonly id: string }

export type KeyAct = 'accept' | 'reject' | 'delete'

/** What `salt-key` asks of whoever has the keys: this host, or a master through its wheel functions. */
export interface KeyDesk {
  /** By a word as `pre`, `acc`, `all`; undefined for a word that is none. */
  list(word: string): Promise<KeyLists | undefined>
  /** A shell pattern, or several with commas. */
  match(match: string): Promise<KeyLists>
  print(match: string): Promise<KeyTexts>
  finger(match: string): Promise<KeyTexts>
  /** Of exactly these keys those that are in one of the states. */
  change(act: KeyAct, keys: KeyLists, states: readonly KeyState[]): Promise<KeyOutcome[]>
  close(): Promise<void>
}

/** The keys of this host. */
export function localKeyDesk({ manager, view }: KeyClient): KeyDesk {
  return {
    list: view.list,
    match: view.nameMatch,
    print: view.print,
    finger: (match) => view.finger(match),
    change: async (act, keys, states) => {
      const meant = selectionOf(keys)
      if (act === 'delete') return manager.deleteKeys(meant)
      const include = including(states)
      return act === 'accept' ? manager.acceptKeys(meant, include) : manager.rejectKeys(meant, include)
    },
    close: async () => {},
  }
}

/** What accepting and rejecting take besides pending keys. */
export const including = (states: readonly KeyState[]) => ({
  includeAccepted: states.includes('accepted'),
  includeRejected: states.includes('rejected'),
  includeDenied: states.includes('denied'),
})

/** Section of the keys that were accepted, or rejected. */
export const sectionAfter = { accept: keyFolders.accepted, reject: keyFolders.rejected } as const
