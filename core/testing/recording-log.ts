import type { Log } from '../author/context.ts'

type RecordLine = (level: keyof Log, ...line: Parameters<Log['info']>) => void

/** Make a log that passes every line to `record`. */
export function recordingLog(record: RecordLine): Log {
  const at =
    (level: keyof Log): Log['info'] =>
    (...line) =>
      record(level, ...line)
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export interface LogLine {
  readonly level: keyof Log
  readonly message: string
  readonly facts?: object | undefined
}

/** Make a log, for code that is called without `run`, and the list of its lines. */
export function fakeLog(): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = []
  return { lines, log: recordingLog((level, message, facts) => lines.push({ level, message, facts })) }
}
