import type { Log } from '../author/context.ts'

type Note = (level: keyof Log, ...said: Parameters<Log['info']>) => void

/** A log that gives every line to `note`. */
export function recordingLog(note: Note): Log {
  const at =
    (level: keyof Log): Log['info'] =>
    (...said) =>
      note(level, ...said)
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export interface LogLine {
  readonly level: keyof Log
  readonly message: string
  readonly facts?: object | undefined
}

/** A log for what is called without `run`, and the lines it was given. */
export function fakeLog(): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = []
  return { lines, log: recordingLog((level, message, facts) => lines.push({ level, message, facts })) }
}
