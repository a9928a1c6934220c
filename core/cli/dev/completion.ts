import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { deferred } from '../../base/deferred.ts'
import { codeRoot, packageRoot } from '../../process/own-package.ts'

const run = promisify(execFile)

/** What may stand at the beginning of a line besides functions. */
const FIRST = ['exit', 'help', 'restart', 'salt', 'salt-run']

/** Completes lines from the same tables as the completion in shells (`core/cli/completion`). */
export class LineCompletion {
  readonly #cache: string
  readonly #configDir: string
  readonly #written = deferred()

  /** `cache` is the folder with the tables of a configuration. */
  constructor(cache: string, configDir: string) {
    this.#cache = cache
    this.#configDir = configDir
  }

  /** The tables are written. */
  onWritten(): void {
    this.#written.resolve()
  }

  /** Return the completions of the last word of a line, and that word. */
  async complete(line: string): Promise<[words: string[], last: string]> {
    await this.#written.promise
    const last = /\S*$/.exec(line)?.[0] ?? ''
    const isFirst = line.trimStart() === last
    const typed = /^\s*salt(-run)?\s/.test(line) ? line : `salt '*' ${line.trimStart()}`
    const { stdout } = await run('awk', ['-f', path.join(packageRoot, 'bin', 'complete.awk')], {
      env: {
        ...process.env,
        LINE: typed,
        OWN: path.join(codeRoot, 'cli', 'completion'),
        KNOWN: path.join(this.#cache, 'salt-ts', 'completion', this.#configDir),
      },
    })
    const words = stdout.split('\n').flatMap((row) => row.split('\t', 1).filter((word) => word !== ''))
    const first = isFirst ? FIRST.filter((word) => word.startsWith(last)) : []
    return [[...first, ...words].map(closed), last]
  }
}

/** Return a word with a space after it, unless its value follows. */
const closed = (word: string): string => (/[=:]$/.test(word) ? word : `${word} `)
