import { closeSync, fstatSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../base/errors.ts'

/** Where lines go. Never throws: a full disk must not stop a daemon. */
export interface Sink {
  write(line: string): void
  close(): void
}

/** Whatever has `write`: a terminal, a stream of a test. */
export function streamSink(stream: { write(text: string): unknown }): Sink {
  return { write: (line) => void stream.write(line), close: () => {} }
}

/** A terminal that has gone away is no reason to end. */
export function stderrSink(): Sink {
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore)
  return streamSink(process.stderr)
}

function ignore(): void {}

const CHECK_MS = 1000

/**
 * A log file, opened with the first line, its directory made if need be; nobody but owner and group can read it.
 * Whole lines are appended at once, so several processes may share it. When it was moved away (logrotate) a new one is
 * begun within a second.
 *
 * @param complain is told, once, when the file cannot be written
 */
export function fileSink(path: string, complain: (problem: string) => void): Sink {
  let file: number | undefined
  let checked = 0
  let broken = false

  const current = (): number => {
    const now = Date.now()
    if (file !== undefined && now - checked >= CHECK_MS && wasMoved(path, file)) close()
    if (file === undefined || now - checked >= CHECK_MS) checked = now
    file ??= open(path)
    return file
  }
  const close = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  return {
    write(line) {
      try {
        writeSync(current(), line)
        broken = false
      } catch (error) {
        if (broken) return
        broken = true
        complain(`The log file ${path} cannot be written: ${messageOf(error)}`)
      }
    },
    close,
  }
}

function open(path: string): number {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) throw new Error('addresses of log servers are not supported yet')
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
  return openSync(path, 'a', 0o640)
}

function wasMoved(path: string, file: number): boolean {
  const [there, ours] = [statSync(path, { throwIfNoEntry: false }), fstatSync(file)]
  return there?.ino !== ours.ino || there.dev !== ours.dev
}
