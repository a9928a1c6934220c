import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { counted } from '../../base/sentence.ts'
import { killGroup } from '../../process/kill-group.ts'
import { compilerOf } from '../authoring/compiler.ts'

/**
 * Runs the TypeScript compiler of the author (`tsc --noEmit --watch`), and reports its diagnostics, one a line, when they change.
 */
export class TypeCheck {
  readonly #child: ChildProcess
  readonly #onChange: (text: string) => void
  #found: string[] = []
  #reported = ''

  /** Undefined if the folder has no `tsconfig.json`, or no TypeScript is installed for it. */
  static open(folder: string, onChange: (text: string) => void): TypeCheck | undefined {
    const compiler = compilerOf(folder)
    const isConfigured = existsSync(path.join(folder, 'tsconfig.json'))
    return compiler !== undefined && isConfigured ? new TypeCheck(compiler, folder, onChange) : undefined
  }

  private constructor(compiler: string, folder: string, onChange: (text: string) => void) {
    this.#onChange = onChange
    const options = ['--noEmit', '--watch', '--preserveWatchOutput', '--pretty', 'false', '-p', '.']
    this.#child = spawn(process.execPath, [compiler, ...options], {
      cwd: folder,
      detached: true, // from version 7 on, the compiler is a program that this process starts
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    this.#child.on('error', () => undefined) // types are not checked then
    if (this.#child.stdout)
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#read(line))
  }

  close(): void {
    killGroup(this.#child.pid)
  }

  /** A round ends with the line `10:00:00 AM - Found 2 errors. Watching for file changes.` */
  #read(line: string): void {
    const [, diagnostic] = /^(\S.*\(\d+,\d+\): error .*|error .*)$/.exec(line) ?? []
    if (diagnostic !== undefined) this.#found.push(compact(diagnostic))
    if (!/ Found \d+ errors?\. Watching/.test(line)) return
    const text = this.#found.join('\n')
    const count = counted(this.#found.length, 'error')
    this.#found = []
    if (text === this.#reported) return
    this.#reported = text
    this.#onChange(text === '' ? 'Types: no errors.' : `Types: ${count}.\n${text}`)
  }
}

/** `hello.ts(3,7): error TS2322: …` → `hello.ts:3:7: TS2322: …` */
const compact = (diagnostic: string): string =>
  diagnostic.replace(/^(.*)\((\d+),(\d+)\): error /, '$1:$2:$3: ').replace(/^error /, '')
