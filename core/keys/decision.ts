import type { KeyState } from './key-files.ts'

/** All that the decision about an offered key depends on (wire protocol §6.2). */
export interface Facts {
  /** Where a key is filed for this id, and whether it is the offered one. */
  readonly filed: { readonly state: Exclude<KeyState, 'denied'>; readonly same: boolean } | undefined
  /** `max_minions` are connected, and this one is not among them. */
  readonly full: boolean
  readonly openMode: boolean
  /** Asked only where it matters, so that what is used up by asking is not wasted. */
  autoReject(): Promise<boolean>
  autoSign(): Promise<boolean>
  /** So many keys are pending that no more are taken. */
  pendingFull(): Promise<boolean>
}

export type Verdict = 'accepted' | 'pending' | 'rejected' | 'denied' | 'full'

export interface Decision {
  readonly verdict: Verdict
  /** A sentence for the log, about "its key". */
  readonly reason: string
  /** Where the offered key is to be filed. */
  readonly file?: KeyState
  /** From where the key that was filed is to be removed. */
  readonly leave?: KeyState
}

/** Decide about an offered, readable key. Nothing is done here. */
export async function decide(facts: Facts): Promise<Decision> {
  const { filed, full, openMode } = facts
  if (full) return { verdict: 'full', reason: 'max_minions are connected' }
  if (openMode) return acceptAnyKey(filed?.state)
  switch (filed?.state) {
    case 'rejected':
      return { verdict: 'rejected', reason: 'its key was rejected' }
    case 'accepted':
      return filed.same ? { verdict: 'accepted', reason: 'its key is accepted' } : denied('accepted')
    case 'pending':
      return decidePending(facts, filed.same)
    default:
      return decideNew(facts)
  }
}

function acceptAnyKey(filed: KeyState | undefined): Decision {
  const common = { verdict: 'accepted', reason: 'open_mode accepts every key', file: 'accepted' } as const
  return filed && filed !== 'accepted' ? { ...common, leave: filed } : common
}

function denied(state: KeyState): Decision {
  const reason = `its key is not the one that is ${state} for this id. If the minion was set up anew, delete that key`
  return { verdict: 'denied', reason, file: 'denied' }
}

async function decideNew({ autoReject, autoSign, pendingFull }: Facts): Promise<Decision> {
  if (await autoReject()) return { verdict: 'rejected', reason: 'autoreject_file names it', file: 'rejected' }
  if (await autoSign())
    return { verdict: 'accepted', reason: 'it is accepted automatically', file: 'accepted' }
  if (await pendingFull()) return { verdict: 'full', reason: 'too many keys wait to be accepted' }
  return { verdict: 'pending', reason: 'its key is new and waits to be accepted', file: 'pending' }
}

async function decidePending({ autoReject, autoSign }: Facts, same: boolean): Promise<Decision> {
  if (await autoReject()) {
    return { verdict: 'rejected', reason: 'autoreject_file names it', file: 'rejected', leave: 'pending' }
  }
  if (!same) return denied('pending')
  if (!(await autoSign())) return { verdict: 'pending', reason: 'its key waits to be accepted' }
  return { verdict: 'accepted', reason: 'it is accepted automatically', file: 'accepted', leave: 'pending' }
}
