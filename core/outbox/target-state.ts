import type { TargetState } from './outbox.ts'

/** Length of the interval from which the rate is computed. */
const LATELY_MS = 60_000

/** Return the initial state of a target. */
export const freshState = (now: number): TargetState => ({ state: 'up', since: now, written: 0, failures: 0 })

/** Return the state after a failed attempt. */
export const failedState = (before: TargetState, error: string, now: number): TargetState => ({
  ...before,
  state: 'down',
  since: before.state === 'up' ? now : before.since,
  failures: before.failures + 1,
  error,
  lastError: { error, at: now },
})

/** Return the state after the store has accepted `count` records. */
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

/** Return the records written per second in the last minute or two; 0 if there were none. */
export function rateOf({ lately }: Pick<TargetState, 'lately'>, now: number): number {
  if (!lately || now - lately.since > 2 * LATELY_MS) return 0
  const seconds = Math.max(1, (now - lately.since) / 1000)
  return Math.round((10 * lately.written) / seconds) / 10
}
