import type { Log } from '../author/context.ts'

/** The process a record comes from, where another one writes it. */
export interface Origin {
  readonly process: number
  readonly processName: string
}

/** A log that may have logs of components; those of tests and authors have none. */
interface Components extends Log {
  child?(component: string, origin?: Origin): Log
}

/** The log of a component, by Salt's name without `salt.`: `channel.server`, `loaded.int.module.cmd`. */
export function component(log: Log, name: string, origin?: Origin): Log {
  return (log as Components).child?.(name, origin) ?? log
}
