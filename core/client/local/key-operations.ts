import type { KeyTexts } from '../../author/master.ts'
import type { MasterConfig } from '../../config/index.ts'
import {
  fingerKeys,
  type KeyChange,
  type KeyState,
  type KeysBySection,
  keyFolders,
  listKeys,
  matchKeys,
  printKeys,
  selectionOf,
} from '../../keys/index.ts'
import type { OpenKeys } from './open-keys.ts'

/** The result for one key; `refused` says why it was not changed. */
export type KeyOutcome = Pick<KeyChange, 'refused'> & { readonly id: string }

export type KeyAction = 'accept' | 'reject' | 'delete'

/** Operations of `salt-key`: on the keys of this host, or through the wheel functions of a master. */
export interface KeyOperations {
  /** List keys by a word such as `pre`, `acc`, `all`; undefined for any other word. */
  list(word: string): Promise<KeysBySection | undefined>
  /** Return the keys that match a shell pattern, or several separated by commas. */
  match(match: string): Promise<KeysBySection>
  /** Return a sentence about each damaged key file, if they are on this host. */
  damages?(): Promise<string[]>
  print(match: string): Promise<KeyTexts>
  finger(match: string): Promise<KeyTexts>
  /** Change those of exactly these keys that are in one of the states. */
  change(act: KeyAction, keys: KeysBySection, states: readonly KeyState[]): Promise<KeyOutcome[]>
  close(): Promise<void>
}

/** Operate on the keys of this host. */
export function localKeyOperations({ manager, store }: OpenKeys, config: MasterConfig): KeyOperations {
  return {
    list: (word) => listKeys(store, word),
    match: (match) => matchKeys(store, match),
    damages: () => store.damages(),
    print: (match) => printKeys(store, config, match),
    finger: (match) => fingerKeys(store, config, match),
    change: async (act, keys, states) => {
      const selection = selectionOf(keys)
      if (act === 'delete') return manager.deleteKeys(selection)
      const include = includeFlags(states)
      return act === 'accept'
        ? manager.acceptKeys(selection, include)
        : manager.rejectKeys(selection, include)
    },
    close: async () => {},
  }
}

/** Return which keys accepting and rejecting include beside pending ones. */
export const includeFlags = (states: readonly KeyState[]) => ({
  includeAccepted: states.includes('accepted'),
  includeRejected: states.includes('rejected'),
  includeDenied: states.includes('denied'),
})

/** The section that accepted or rejected keys are listed in. */
export const resultingSection = { accept: keyFolders.accepted, reject: keyFolders.rejected } as const
