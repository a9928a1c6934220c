import type { Log } from '../author/context.ts'
import { component, type Origin } from './component.ts'
import { sanitize } from './sanitize.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const

/** A line of a process that does not write a log itself. */
export interface RelayedLine {
  readonly level: (typeof levels)[number]
  readonly message: string
  readonly facts?: object
  /** Name of the component; if undefined, the writing process chooses one. */
  readonly name?: string
  readonly origin: Origin
}

/** Create a log that passes its lines to `send`, for another process to write. */
export function createRelayLog(send: (line: RelayedLine) => void, processName: string): Log {
  const origin = { process: process.pid, processName }
  const of = (name?: string): Log => {
    const at =
      (level: RelayedLine['level']): Log['info'] =>
      (message, facts) =>
        send({
          level,
          message,
          origin,
          ...(name !== undefined && { name }),
          ...(facts && { facts: sanitize(facts instanceof Error ? { error: facts } : facts) as object }),
        })
    const relay: Log = Object.fromEntries(levels.map((level) => [level, at(level)])) as unknown as Log
    return Object.assign(relay, { child: of })
  }
  return of()
}

/** Write a line of another process. `unnamed` is the component of lines without one. */
export function writeRelayedLine(
  log: Log,
  { level, message, facts, name, origin }: RelayedLine,
  unnamed: string,
): void {
  component(log, name ?? unnamed, origin)[level](message, facts)
}
