import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolders } from '../base/files/directory.ts'
import { fileProblem } from '../base/files/file-problem.ts'

/** A destination of lines. Never throws, since a full disk must not stop a daemon. */
export interface Sink {
  write(line: string): void
  close(): void
}

/** Create a sink for an object with `write`, such as a terminal or a stream of a test. */
export function streamSink(stream: { write(text: string): unknown }): Sink {
  return { write: (line) => void stream.write(line), close: () => {} }
}

/** Create a sink for standard error. Errors of a closed terminal are ignored. */
export function stderrSink(): Sink {
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore)
  return streamSink(process.stderr)
}

function ignore(): void {}

const CHECK_MS = 1000

/**
 * Create a sink for a log file. The file and its directory are created with the first line, readable only by owner and group. Each
 * line is appended in one write, so several processes can share the file. If it was moved (logrotate), a new one is created within
 * a second.
 *
 * @param onProblem called once when the file cannot be written
 */
export function fileSink(path: string, onProblem: (problem: string) => void): Sink {
  let file: number | undefined
  let checkedAt = 0
  let broken = false

  const current = (): number => {
    const now = Date.now()
    if (file !== undefined && now - checkedAt >= CHECK_MS && wasMoved(path, file)) close()
    if (file === undefined || now - checkedAt >= CHECK_MS) checkedAt = now
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
        onProblem(`The log file ${path} cannot be written: ${fileProblem(error)}`)
      }
    },
    close,
  }
}

function open(path: string): number {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) throw new Error('addresses of log servers are not supported yet')
  makeFolders(dirname(path), 0o750)
  return openSync(path, 'a', 0o640)
}

function wasMoved(path: string, file: number): boolean {
  const [there, ours] = [statSync(path, { throwIfNoEntry: false }), fstatSync(file)]
  return there?.ino !== ours.ino || there.dev !== ours.dev
}
