import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { killGroup } from '../../process/kill-group.ts'
import { packageRoot } from '../../process/own-package.ts'

/** Runs `salt-ts test` again and again. Reports how many tests pass or, if some fail, which and why. */
export class TestRuns {
  readonly #folder: string
  readonly #onResult: (text: string) => void
  #child: ChildProcess | undefined

  constructor(folder: string, onResult: (text: string) => void) {
    this.#folder = folder
    this.#onResult = onResult
  }

  /** Run the tests. A run that is under way is ended. */
  async run(): Promise<void> {
    this.close()
    const child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'salt-ts'), 'test', this.#folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.#child = child
    const ended = once(child, 'exit')
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    if (child !== this.#child) return
    this.#child = undefined
    this.#onResult(shown(output, errors))
  }

  /** End a run, with the processes of its tests. */
  close(): void {
    killGroup(this.#child?.pid)
    this.#child = undefined
  }
}

/** Shorten the report of Node's test runner. */
function shown(output: string, errors: string): string {
  const [passed, failed] = ['pass', 'fail'].map(
    (word) => new RegExp(`^ℹ ${word} (\\d+)$`, 'm').exec(output)?.[1],
  )
  if (passed === undefined) return `Tests: ${(errors || output).trim()}`
  if (failed === '0') return `Tests: ${passed} passed.`
  const [, details = ''] = output.split(/^✖ failing tests:$/m)
  return `Tests: ${passed} passed, ${failed} failed.\n${details.trim()}`
}
