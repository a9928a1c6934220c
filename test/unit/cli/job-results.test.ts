import { describe, expect, test } from 'vitest'
import { type ShowSettings, showResults } from '../../../core/cli/job-results.ts'
import type { Printed } from '../../../core/cli/printer.ts'
import type { MinionResult } from '../../../core/client/contract.ts'
import { captured } from '../../harness/terminal.ts'

const ok: MinionResult = {
  id: 'b',
  state: 'returned',
  return: true,
  retcode: 0,
  success: true,
  jid: '1',
  fun: 'test.ping',
}
const bad: MinionResult = { ...ok, id: 'a', return: 'no', retcode: 3, success: false, out: 'txt' }
const silent: MinionResult = { id: 'c', state: 'missing', reason: 'Minion did not return. [No response]' }

const perhaps: MinionResult = { id: 'd', state: 'unknown', reason: 'It is not known' }

async function show(results: MinionResult[], settings: Partial<ShowSettings> = {}) {
  const printed: [unknown, Printed | undefined][] = []
  const printer = {
    chosen: undefined,
    print: async (value: unknown, options?: Printed) => {
      printed.push([value, options])
    },
  }
  const outcome = await captured(() =>
    showResults(streamed(results), {
      printer,
      together: false,
      showMissing: true,
      summary: false,
      verbose: false,
      ...settings,
    }),
  )
  return { printed, ...outcome }
}

async function* streamed(results: MinionResult[]): AsyncGenerator<MinionResult> {
  yield* results
}

describe('the results of a job', () => {
  test('exit code 0 only if every minion returned and succeeded', async () => {
    expect((await show([ok])).result).toBe(0)
    expect((await show([ok, bad])).result).toBe(1)
    expect((await show([ok, silent])).result).toBe(1)
    expect((await show([{ ...ok, success: false }])).result).toBe(1)
    expect((await show([silent])).result).toBe(2)
    expect((await show([])).result).toBe(2)
  })

  test('who is perhaps not meant counts only if nobody returned, and is named only where everything is told', async () => {
    expect((await show([ok, perhaps])).result).toBe(0)
    expect((await show([perhaps])).result).toBe(2)
    expect((await show([ok, perhaps])).printed).toHaveLength(1)
    expect((await show([ok, perhaps], { verbose: true })).printed[1]?.[0]).toEqual({ d: 'It is not known' })
    const { stdout } = await show([ok, perhaps], { summary: true })
    expect(stdout).toContain('# of minions targeted: 1\n')
    expect(stdout).toContain('# of minions that are perhaps not meant: 1\n')
  })

  test('gathered results have the same exit codes', async () => {
    expect((await show([ok, bad], { together: true })).result).toBe(1)
    expect((await show([ok, silent], { together: true, showMissing: false })).result).toBe(1)
  })

  test('are printed as they come, each through the outputter its function asks for', async () => {
    const { printed, stderr } = await show([ok, bad, silent])
    expect(printed).toEqual([
      [{ b: true }, { outputter: undefined, retcode: 0 }],
      [{ a: 'no' }, { outputter: 'txt', retcode: 3 }],
      [{ c: 'Minion did not return. [No response]' }, { outputter: 'no_return' }],
    ])
    expect(stderr).toContain('ERROR: Minions returned with non-zero exit code (1 of 3)')
    expect(stderr).toContain('ERROR: Minions did not return (1 of 3)')
  })

  test('gathered: one document, sorted by id', async () => {
    const { printed } = await show([ok, bad], { together: true })
    expect(printed).toHaveLength(1)
    expect(Object.keys(printed[0]?.[0] as object)).toEqual(['a', 'b'])
  })

  test('hiding minions that did not return hides only the text', async () => {
    const { printed, result } = await show([ok, silent], { showMissing: false })
    expect(printed).toHaveLength(1)
    expect(result).toBe(1)
  })

  test('the summary counts and, asked to be verbose, names', async () => {
    const { stdout } = await show([ok, bad, silent], { summary: true, verbose: true })
    expect(stdout.split('\n')).toEqual([
      '-'.repeat(43),
      'Summary',
      '-'.repeat(43),
      '# of minions targeted: 3',
      '# of minions returned: 2',
      '# of minions that did not return: 1',
      'c',
      '# of minions with errors: 1',
      'a',
      '-'.repeat(43),
      '',
    ])
  })
})
