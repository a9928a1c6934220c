import type { Log } from '../author/context.ts'
import { component, type Origin } from './component.ts'
import { presentable } from './presentable.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const

/** A line of a process that writes no log itself. */
export interface LogLine {
  readonly level: (typeof levels)[number]
  readonly message: string
  readonly facts?: object
  /** The component; without it, the process that writes the line chooses one. */
  readonly name?: string
  readonly origin: Origin
}

/** Make a log that hands its lines over, for another process to write. */
export function lineLog(give: (line: LogLine) => void, processName: string): Log {
  const origin = { process: process.pid, processName }
  const of = (name?: string): Log => {
    const at =
      (level: LogLine['level']): Log['info'] =>
      (message, facts) =>
        give({
          ...{ level, message, origin },
          ...(name !== undefined && { name }),
          ...(facts && { facts: presentable(facts instanceof Error ? { error: facts } : facts) as object }),
        })
    const own: Log = Object.fromEntries(levels.map((level) => [level, at(level)])) as unknown as Log
    return Object.assign(own, { child: of })
  }
  return of()
}

/** Write a line of another process. `unnamed`: the component of lines that name none. */
export function writeLine(log: Log, { level, message, facts, name, origin }: LogLine, unnamed: string): void {
  component(log, name ?? unnamed, origin)[level](message, facts)
}
