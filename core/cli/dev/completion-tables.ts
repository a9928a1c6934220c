import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { packageRoot } from '../../process/own-package.ts'

/** Writes the tables of the completion (`core/cli/completion`) of a configuration, in a process of its own. */
export class CompletionTables {
  readonly #cache: string
  #writer: ChildProcess | undefined

  /** `cache` is a folder for the tables. */
  constructor(cache: string) {
    this.#cache = cache
  }

  /** Write them again: the functions of the minions have changed. Resolves when the process has ended, in whatever way. */
  async write(configDir: string): Promise<void> {
    this.#writer?.kill('SIGKILL')
    const program = path.join(packageRoot, 'bin', 'salt-ts')
    const writer = spawn(process.execPath, [program, '__words', configDir], {
      env: { ...process.env, XDG_CACHE_HOME: this.#cache },
      stdio: 'ignore',
    })
    this.#writer = writer
    await once(writer, 'close').catch(() => undefined) // without the tables there is less to offer
  }

  /** End the process, so that it writes nothing afterwards. */
  async close(): Promise<void> {
    const writer = this.#writer
    if (!writer || writer.exitCode !== null || writer.signalCode !== null) return
    writer.kill('SIGKILL')
    await once(writer, 'close')
  }
}
