/** Runs functions with programs that print what the real ones printed (test/fixtures/recorded/README.md). */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import dnf from '../../fixtures/recorded/dnf.json' with { type: 'json' }
import openrc from '../../fixtures/recorded/openrc.json' with { type: 'json' }
import pacman from '../../fixtures/recorded/pacman.json' with { type: 'json' }
import zypper from '../../fixtures/recorded/zypper.json' with { type: 'json' }
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

/** What a program was started with, and what it printed, with its exit code unless that is 0. */
type Run = readonly [program: string, words: string, stdout: string, stderr?: string, retcode?: number]
interface Recorded {
  readonly fun: string
  readonly given: Record<string, unknown>
  readonly runs: readonly Run[]
  readonly value?: unknown
  readonly error?: string
}

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-recorded-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

/** Put programs that note their words, and answer each with a run of these words that is not yet used. */
async function play(runs: readonly Run[]): Promise<void> {
  await mkdir(join(folder, 'answers'))
  await Promise.all(
    runs.map(async ([program, words, stdout, stderr = '', retcode = 0], index) => {
      const path = join(folder, 'answers', String(index))
      await writeFile(path, stdout)
      await writeFile(`${path}.words`, `${program} ${words}\n`)
      await writeFile(`${path}.err`, stderr)
      await writeFile(`${path}.code`, String(retcode))
    }),
  )
  const script = `cd '${folder}'
words="\${0##*/} $*"
printf '%s\\n' "$words" >> log
for answer in ${runs.map((_, index) => `answers/${index}`).join(' ')}; do
  IFS= read -r wanted < $answer.words
  if [ "$wanted" = "$words" ] && mkdir $answer.used 2>/dev/null; then
    cat $answer
    cat $answer.err >&2
    exit $(cat $answer.code)
  fi
done
exit 99`
  for (const name of new Set(runs.map(([program]) => program)))
    await stubProgram(join(folder, 'bin'), name, script)
}

const RECORDED = [zypper, dnf, pacman, openrc].map((one) => [one.module, one.program, one] as const)

describe.each(RECORDED)('%s (recorded output of %s)', (module, _program, { grains, calls }) => {
  const rows = (calls as unknown as Recorded[]).map((one) => [one.fun, one.given, one] as const)
  test.each(rows)('%s %j', async (fun, given, { runs, fun: _fun, given: _given, ...answer }) => {
    const functions = (await import(`../../../modules/${module}.ts`)) as Record<string, AnyFn>
    await play(runs)
    const answered = await Promise.resolve(call(functions[fun]!, given, fakeContext({ grains }))).then(
      (value) => ({ value: value instanceof Map ? Object.fromEntries(value) : value }),
      (error: Error) => ({ error: error.message }),
    )
    expect(answered).toEqual(answer)
    // Some of them run at the same time.
    const started = runs.map(([program, words]) => `${program} ${words}`)
    expect((await linesOf(join(folder, 'log'))).toSorted()).toEqual(started.toSorted())
  })
})
