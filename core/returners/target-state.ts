import type { TargetState } from '../jobs/outbox.ts'

/** How long what was written counts for the rate. Milliseconds. */
const LATELY_MS = 60_000

/** How it stands with a target of which nothing is known yet. */
export const freshState = (now: number): TargetState => ({ state: 'up', since: now, written: 0, failures: 0 })

/** One more try failed. */
export const failedState = (before: TargetState, error: string, now: number): TargetState => ({
  ...before,
  state: 'down',
  since: before.state === 'up' ? now : before.since,
  failures: before.failures + 1,
  error,
  lastError: { error, at: now },
})

/** The store took so many records. */
export function writtenState({ error: _, ...before }: TargetState, count: number, now: number): TargetState {
  const { state, since, written, lately } = before
  const goesOn = lately && now - lately.since < LATELY_MS
  return {
    ...before,
    state: 'up',
    since: state === 'down' ? now : since,
    written: written + count,
    lately: goesOn ? { ...lately, written: lately.written + count } : { since: now, written: count },
    failures: 0,
  }
}

/** Records per second that were written lately; 0 if none were for a while. */
export function rateOf({ lately }: Pick<TargetState, 'lately'>, now: number): number {
  if (!lately || now - lately.since > 2 * LATELY_MS) return 0
  const seconds = Math.max(1, (now - lately.since) / 1000)
  return Math.round((10 * lately.written) / seconds) / 10
}
