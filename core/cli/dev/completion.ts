import { type ChildProcess, execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { codeRoot, packageRoot } from '../../process/own-package.ts'

const run = promisify(execFile)

/** What may stand at the beginning of a line besides functions. */
const FIRST = ['exit', 'help', 'restart', 'salt', 'salt-run']

/**
 * Completes lines from the same tables as the completion in shells (`core/cli/completion`), of which those of the configuration
 * are written to a folder of this run.
 */
export class LineCompletion {
  readonly #cache: string
  #writing: Promise<unknown> = Promise.resolve()
  #writer: ChildProcess | undefined
  #configDir = ''
  #isClosed = false

  /** `cache` is a folder for the tables. */
  constructor(cache: string) {
    this.#cache = cache
  }

  /** Write the tables again: the functions of the minions have changed. */
  refresh(configDir: string): void {
    this.#configDir = configDir
    this.#writing = this.#writing.then(() => this.#write(configDir))
  }

  /** Return the completions of the last word of a line, and that word. */
  async complete(line: string): Promise<[words: string[], last: string]> {
    await this.#writing
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

  async close(): Promise<void> {
    this.#isClosed = true
    this.#writer?.kill('SIGKILL')
    await this.#writing
  }

  async #write(configDir: string): Promise<void> {
    if (this.#isClosed) return
    const program = path.join(packageRoot, 'bin', 'salt-ts')
    const written = run(process.execPath, [program, '__words', configDir], {
      env: { ...process.env, XDG_CACHE_HOME: this.#cache },
    })
    this.#writer = written.child
    await written.catch(() => undefined) // without the tables there is less to offer
  }
}

/** Return a word with a space after it, unless its value follows. */
const closed = (word: string): string => (/[=:]$/.test(word) ? word : `${word} `)
