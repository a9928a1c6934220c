/** `salt-ts dev` as a process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeFolder, temporaryFolder } from './folder.ts'
import { withEnvironment } from './processes.ts'
import { until } from './until.ts'

const saltTs = fileURLToPath(new URL('../../bin/salt-ts', import.meta.url))

/** Set in the environment of what a `dev` starts. */
const MARK = 'SALT_TEST_DEV'

interface Start {
  /** Files of the author: name → text. */
  readonly files: Readonly<Record<string, string>>
  readonly words?: readonly string[]
  /** With the program `script`, which gives it a terminal. */
  readonly onTerminal?: boolean
}

/** A `salt-ts dev` in an author's folder, and what it writes. */
export class Dev {
  readonly folder: string
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #text = ''
  #read = 0

  /** Start it in a folder with these files. */
  static async start({ files, words = [], onTerminal = false }: Start): Promise<Dev> {
    const folder = await temporaryFolder('dev-')
    await mkdir(join(folder, '.tmp'))
    const dev = new Dev(folder, onTerminal, words)
    for (const [name, text] of Object.entries(files)) await dev.save(name, text)
    return dev
  }

  private constructor(folder: string, onTerminal: boolean, words: readonly string[]) {
    this.folder = folder
    const typed = ['dev', ...words]
    const env = { NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined, TERM: 'xterm', [MARK]: folder }
    const options = { cwd: folder, env: { ...process.env, ...env, TMPDIR: join(folder, '.tmp') } }
    this.#child = onTerminal
      ? spawn('script', ['-qec', [saltTs, ...typed].join(' '), '/dev/null'], options)
      : spawn(saltTs, typed, options)
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#text += text
      })
    this.#ended = new Promise((done) => this.#child.once('close', done))
  }

  /** Wait for texts, in any order, after those of the last call; returns what was written up to the last one. */
  async shows(...texts: readonly string[]): Promise<string> {
    const ends = await until(
      () => `${texts.join(', ')} in:\n${this.#text.slice(this.#read)}`,
      () => {
        const places = texts.map((text) => this.#text.indexOf(text, this.#read))
        return !places.includes(-1) && places.map((at, index) => at + texts[index]!.length)
      },
    )
    const seen = this.#text.slice(this.#read, Math.max(...ends))
    this.#read = Math.max(...ends)
    return seen
  }

  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  async save(name: string, text: string): Promise<void> {
    await mkdir(join(this.folder, name, '..'), { recursive: true })
    await writeFile(join(this.folder, name), text)
  }

  read(name: string): Promise<string> {
    return readFile(join(this.folder, name), 'utf8')
  }

  /** End it by a signal, or by the end of its input; returns the exit code, and the processes and files that are left. */
  async end(signal?: NodeJS.Signals): Promise<{ code: number | null; left: string[] }> {
    if (signal) this.#child.kill(signal)
    else this.#child.stdin?.end()
    const code = await this.#ended
    return { code, left: this.left() }
  }

  /** Kill it, or the terminal in which it runs. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** The processes and files of it that there are. */
  left(): string[] {
    const processes = withEnvironment(MARK, this.folder).map(({ command }) => command)
    const files = readdirSync(join(this.folder, '.tmp')).filter((name) => !/^salt-ts-\d+$/.test(name)) // compiled files
    return [...processes, ...files]
  }

  /** End it if it runs, and remove its folder. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGTERM')
    await removeFolder(this.folder)
  }
}
