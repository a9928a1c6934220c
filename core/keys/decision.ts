import type { JoinAnswer } from './invites.ts'
import { joinRefusalTexts } from './join-token.ts'
import type { KeyState } from './key-files.ts'
import type { SignedBy } from './policy.ts'

/** The key filed for an id. */
export interface FiledKey {
  readonly state: Exclude<KeyState, 'denied'>
  /** Whether it is the offered key. */
  readonly same: boolean
  /** Why it cannot be read, and what to do, as a clause. */
  readonly damage?: string
}

/** Everything the decision about an offered key depends on (wire protocol §6.2). */
export interface KeyFacts {
  readonly filed: FiledKey | undefined
  /** Whether `max_minions` others are connected. */
  readonly full: boolean
  readonly openMode: boolean
  /** Called only if needed: asking may consume what accepts the key. */
  autoReject(): Promise<boolean>
  autoSign(): Promise<SignedBy | false>
  /** Check the join token and consume a use if it is valid; undefined if there is none. */
  join(): Promise<JoinAnswer | undefined>
  /** Whether so many keys are pending that no more are filed. */
  pendingFull(): Promise<boolean>
  /** The same for rejected keys, as far as `autoreject_file` files them. */
  rejectedFull(): Promise<boolean>
}

/** `damaged`: the filed key cannot be read, so nothing is known about the offered one. */
export type KeyVerdict = 'accepted' | 'pending' | 'rejected' | 'denied' | 'full' | 'damaged'

export interface KeyDecision {
  readonly verdict: KeyVerdict
  /** A clause for the log about "its key". */
  readonly reason: string
  /** The state to file the offered key in. */
  readonly file?: KeyState
  /** The state to remove the filed key from. */
  readonly leave?: KeyState
  /** The option or invitation that accepted the key without a person. */
  readonly by?: SignedBy
  readonly join?: JoinAnswer
}

/** Decide about an offered, readable key. Has no side effects of its own. */
export async function decideAboutKey(facts: KeyFacts): Promise<KeyDecision> {
  const { filed, full, openMode } = facts
  if (full) return { verdict: 'full', reason: 'max_minions are connected' }
  if (openMode) return acceptAnyKey(filed?.state)
  switch (filed?.state) {
    case 'rejected':
      return { verdict: 'rejected', reason: 'its key was rejected' }
    case 'accepted':
      return filed.same ? { verdict: 'accepted', reason: 'its key is accepted' } : otherThan(filed)
    case 'pending':
      return decidePending(facts, filed)
    default:
      return decideNew(facts)
  }
}

function acceptAnyKey(filed: KeyState | undefined): KeyDecision {
  const common = {
    verdict: 'accepted',
    reason: 'open_mode accepts every key',
    file: 'accepted',
    by: 'open_mode',
  } as const
  return filed && filed !== 'accepted' ? { ...common, leave: filed } : common
}

function otherThan({ state, damage }: FiledKey): KeyDecision {
  if (damage) return { verdict: 'damaged', reason: damage }
  const reason = `its key is not the one that is ${state} for this id. If the minion was set up anew, delete that key`
  return { verdict: 'denied', reason, file: 'denied' }
}

async function decideNew(facts: KeyFacts): Promise<KeyDecision> {
  if (await facts.autoReject()) {
    const isFull = await facts.rejectedFull() // or strangers could fill the disk with names that it matches
    return { verdict: 'rejected', reason: 'autoreject_file names it', ...(!isFull && { file: 'rejected' }) }
  }
  const { accepted, join } = await withoutPerson(facts)
  if (accepted) return accepted
  if (await facts.pendingFull()) return { verdict: 'full', reason: 'too many keys wait to be accepted' }
  const reason = `its key is new and waits to be accepted${because(join)}`
  return { verdict: 'pending', reason, file: 'pending', ...(join && { join }) }
}

async function decidePending(facts: KeyFacts, filed: FiledKey): Promise<KeyDecision> {
  if (await facts.autoReject()) {
    return { verdict: 'rejected', reason: 'autoreject_file names it', file: 'rejected', leave: 'pending' }
  }
  if (!filed.same) return otherThan(filed)
  const { accepted, join } = await withoutPerson(facts)
  if (accepted) return { ...accepted, leave: 'pending' }
  const reason = `its key waits to be accepted${because(join)}`
  return { verdict: 'pending', reason, ...(join && { join }) }
}

/** Try to accept the key without a person. The join token comes last, since checking it consumes it. */
async function withoutPerson({
  autoSign,
  join,
}: KeyFacts): Promise<{ accepted?: KeyDecision; join?: JoinAnswer }> {
  const accepted = { verdict: 'accepted', file: 'accepted' } as const
  const by = await autoSign()
  if (by) return { accepted: { ...accepted, reason: `it is accepted automatically (${by})`, by } }
  const answer = await join()
  if (!answer) return {}
  if (answer.state !== 'good') return { join: answer }
  const reason = `it has the join token ${answer.invite}`
  return { accepted: { ...accepted, reason, by: 'invite', join: answer } }
}

const because = (join: JoinAnswer | undefined): string =>
  join && join.state !== 'good' ? `: its join token ${joinRefusalTexts[join.state]}` : ''
