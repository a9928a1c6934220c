import type { Log } from '../author/context.ts'

/** The process that a relayed record comes from. */
export interface Origin {
  readonly process: number
  readonly processName: string
}

/** A log that may have logs of components. Those of tests and extensions have none. */
interface Components extends Log {
  child?(component: string, origin?: Origin): Log
}

/** Return the log of a component, by Salt's name without `salt.`: `channel.server`, `loaded.int.module.cmd`. */
export function component(log: Log, name: string, origin?: Origin): Log {
  return (log as Components).child?.(name, origin) ?? log
}
