import { Turns } from '../base/turns.ts'
import type { MasterEvents } from './master-link.ts'

/** So many ask minions at the same moment whether they still work on a job; thousands may want to. */
const AT_ONCE = 16

const byBus = new WeakMap<MasterEvents, Turns>()

/** Of those who ask that over the same link. */
export function turnsOver(bus: MasterEvents): Turns {
  const turns = byBus.get(bus) ?? new Turns(AT_ONCE)
  byBus.set(bus, turns)
  return turns
}

/** A place in the row of those who want to ask. */
export interface Turn {
  readonly isMine: boolean
  /** When to look again, in milliseconds since 1970. */
  until(): number
  leave(): void
}

/** `onMine` is called if it has to be waited for. */
export function takeTurn(turns: Turns, onMine: () => void): Turn {
  const leaving = new AbortController()
  const mustWait = turns.full
  let isMine = !mustWait
  const over = turns.take(leaving.signal).then((leave) => {
    isMine = true
    if (mustWait) onMine()
    return leave
  })
  return {
    get isMine() {
      return isMine
    },
    until: () => (isMine ? 0 : Number.POSITIVE_INFINITY),
    leave() {
      leaving.abort()
      over.then(
        (leave) => leave(),
        () => {},
      )
    },
  }
}
