import type { JoinAnswer } from './invites.ts'
import { joinReasons } from './join-token.ts'
import type { KeyState } from './key-files.ts'
import type { SignedBy } from './policy.ts'

/** All that the decision about an offered key depends on (wire protocol §6.2). */
export interface Facts {
  /** Where a key is filed for this id, and whether it is the offered one. */
  readonly filed: { readonly state: Exclude<KeyState, 'denied'>; readonly same: boolean } | undefined
  /** `max_minions` are connected, and this one is not among them. */
  readonly full: boolean
  readonly openMode: boolean
  /** Asked only where it matters, so that what is used up by asking is not wasted. */
  autoReject(): Promise<boolean>
  autoSign(): Promise<SignedBy | false>
  /** What its join token is good for; undefined if it shows none. A good one is used up. */
  join(): Promise<JoinAnswer | undefined>
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
  /** What accepts it in place of a person. */
  readonly by?: SignedBy
  readonly join?: JoinAnswer
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
  const common = {
    verdict: 'accepted',
    reason: 'open_mode accepts every key',
    file: 'accepted',
    by: 'open_mode',
  } as const
  return filed && filed !== 'accepted' ? { ...common, leave: filed } : common
}

function denied(state: KeyState): Decision {
  const reason = `its key is not the one that is ${state} for this id. If the minion was set up anew, delete that key`
  return { verdict: 'denied', reason, file: 'denied' }
}

async function decideNew(facts: Facts): Promise<Decision> {
  if (await facts.autoReject())
    return { verdict: 'rejected', reason: 'autoreject_file names it', file: 'rejected' }
  const { accepted, join } = await withoutPerson(facts)
  if (accepted) return accepted
  if (await facts.pendingFull()) return { verdict: 'full', reason: 'too many keys wait to be accepted' }
  const reason = `its key is new and waits to be accepted${because(join)}`
  return { verdict: 'pending', reason, file: 'pending', ...(join && { join }) }
}

async function decidePending(facts: Facts, same: boolean): Promise<Decision> {
  if (await facts.autoReject()) {
    return { verdict: 'rejected', reason: 'autoreject_file names it', file: 'rejected', leave: 'pending' }
  }
  if (!same) return denied('pending')
  const { accepted, join } = await withoutPerson(facts)
  if (accepted) return { ...accepted, leave: 'pending' }
  const reason = `its key waits to be accepted${because(join)}`
  return { verdict: 'pending', reason, ...(join && { join }) }
}

/** A join token is looked at last, since that uses it up. */
async function withoutPerson({ autoSign, join }: Facts): Promise<{ accepted?: Decision; join?: JoinAnswer }> {
  const accepted = { verdict: 'accepted', file: 'accepted' } as const
  const by = await autoSign()
  if (by) return { accepted: { ...accepted, reason: `it is accepted automatically (${by})`, by } }
  const answer = await join()
  if (!answer) return {}
  if (answer.state !== 'good') return { join: answer }
  const reason = `it shows the join token ${answer.invite}`
  return { accepted: { ...accepted, reason, by: 'invite', join: answer } }
}

const because = (join: JoinAnswer | undefined): string =>
  join && join.state !== 'good' ? `: its join token ${joinReasons[join.state]}` : ''
