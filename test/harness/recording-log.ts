import type { Log } from '../../core/author/context.ts'

type Note = (level: keyof Log, ...said: Parameters<Log['info']>) => void

/** A log that gives every line to `note`. */
export function recordingLog(note: Note): Log {
  const at =
    (level: keyof Log): Log['info'] =>
    (...said) =>
      note(level, ...said)
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
