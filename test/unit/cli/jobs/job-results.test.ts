import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { type ShowSettings, showResults } from '../../../../core/cli/jobs/job-results.ts'
import type { Printed } from '../../../../core/cli/output/printer.ts'
import type { MinionResult } from '../../../../core/client/local/contract.ts'
import { SLOW } from '../../../harness/slow.ts'
import { captured } from '../../../harness/terminal.ts'

type Returned = Extract<MinionResult, { state: 'returned' }>
type Failed = Extract<MinionResult, { state: 'failed' }>

const ok: Returned = {
  id: 'b',
  state: 'returned',
  jobState: 'returned',
  why: 'The minion returned.',
  return: true,
  retcode: 0,
  success: true,
  jid: '1',
  fun: 'test.ping',
}
const bad: Failed = {
  ...ok,
  id: 'a',
  state: 'failed',
  jobState: 'failed',
  why: 'The minion returned with exit code 3.',
  return: 'no',
  retcode: 3,
  success: false,
  out: 'txt',
}
const silent: MinionResult = {
  id: 'c',
  state: 'missing',
  jobState: 'unknown',
  why: 'It did not answer.',
  reason: 'Minion did not return. [No response]',
  jid: '1',
}

const plain: ShowSettings = {
  printer: { chosen: undefined, print: async () => {} },
  isStatic: false,
  showMissing: true,
  summary: false,
  verbose: false,
}

const perhaps: MinionResult = {
  ...silent,
  id: 'd',
  state: 'unknown',
  why: 'It is not known',
  reason: 'It is not known',
}

async function show(results: MinionResult[], settings: Partial<ShowSettings> = {}) {
  const printed: [unknown, Printed | undefined][] = []
  const printer = {
    chosen: undefined,
    print: async (value: unknown, options?: Printed) => {
      printed.push([value, options])
    },
  }
  const outcome = await captured(() => showResults(streamed(results), { ...plain, printer, ...settings }))
  return { printed, ...outcome }
}

async function* streamed(results: MinionResult[]): AsyncGenerator<MinionResult> {
  yield* results
}

describe('the results of a job', () => {
  test('group minions that did not return for the same reason; small groups and other reasons are shown one by one', async () => {
    const dead = (id: string, reason = 'Minion did not return. [No response]') => ({ ...silent, id, reason })
    const many = Array.from({ length: 40 }, (_, index) => dead(`web${String(index + 1).padStart(2, '0')}`))
    const some = [1, 2, 3, 4, 5].map((index) => dead(`db${index}`, 'No accepted key'))
    const all = [...some, ...many, ok]
    const headings = async (settings?: Partial<ShowSettings>) =>
      (await show(all, settings)).printed.map(([value]) => Object.keys(value as object).join())
    const apart = ['db1', 'db2', 'db3', 'db4', 'db5']
    expect(await headings()).toEqual(['b', ...apart, 'web[01-40] (40)'])
    expect(await headings({ eachMissing: true })).toEqual(all.map(({ id }) => id))
    const json = { chosen: 'json', print: vi.fn(async () => {}) }
    await show(all, { printer: json })
    expect(json.print).toHaveBeenCalledTimes(all.length)
  })

  test('have exit code 0 only if every minion returned and succeeded', async () => {
    expect((await show([ok])).result).toBe(0)
    expect((await show([ok, bad])).result).toBe(1)
    expect((await show([ok, silent])).result).toBe(75)
    expect((await show([bad, silent])).result).toBe(1)
    expect((await show([{ ...bad, retcode: 0 }])).result).toBe(1)
    expect((await show([silent])).result).toBe(75)
    expect((await show([])).result).toBe(2)
  })

  test('count a failure more than a missing return; the highest code is passed through on request', async () => {
    const worse = { ...bad, id: 'd', retcode: 42 }
    expect((await show([bad, worse, silent], { passthrough: true })).result).toBe(42)
    expect((await show([ok, silent], { passthrough: true })).result).toBe(75)
    expect((await show([{ ...bad, retcode: 512 }], { passthrough: true })).result).toBe(1)
  })

  test.each<[string, MinionResult[], Partial<ShowSettings>, number]>([
    ['of success', [ok], {}, 0],
    ['of False, which is a return', [{ ...ok, return: false, success: false }], {}, 0],
    ['of a failure', [ok, bad], {}, 1],
    ['of a failure with --static', [bad], { isStatic: true }, 0],
    ['of several functions that fail', [{ ...bad, fun: ['a.b', 'c.d'] }], {}, 0],
    ['of a minion that is missing', [ok, silent], {}, 1],
    ['of a missing minion that is hidden', [ok, silent], { showMissing: false }, 0],
    ['of a hidden minion without a key', [ok, silent], { showMissing: false, withoutKey: ['c'] }, 1],
    ['of nothing', [], {}, 2],
  ])("with salt_exit_codes: legacy Salt's exit code %s", async (_, results, settings, code) => {
    expect((await show(results, { ...settings, legacy: true })).result).toBe(code)
  })

  test('count a minion that may not match only if none returned, and list it only with --summary or -v', async () => {
    expect((await show([ok, perhaps])).result).toBe(0)
    expect((await show([perhaps])).result).toBe(2)
    expect((await show([ok, perhaps])).printed).toHaveLength(1)
    expect((await show([ok, perhaps], { verbose: true })).printed[1]?.[0]).toEqual({ d: 'It is not known' })
    const { stdout } = await show([ok, perhaps], { summary: true })
    expect(stdout).toContain('# of minions targeted: 1\n')
    expect(stdout).toContain('# of minions that perhaps do not match: 1\n')
  })

  test('have the same exit codes if they are gathered', async () => {
    expect((await show([ok, bad], { isStatic: true })).result).toBe(1)
    expect((await show([ok, silent], { isStatic: true, showMissing: false })).result).toBe(75)
  })

  test('are printed as they come, each by the outputter of its function', async () => {
    const { printed, stderr } = await show([ok, bad, silent])
    expect(printed).toEqual([
      [{ b: true }, { outputter: undefined, retcode: 0 }],
      [{ a: 'no' }, { outputter: 'txt', retcode: 3 }],
      [{ c: 'Minion did not return. [No response]' }, { outputter: 'no_return' }],
    ])
    expect(stderr).toContain('ERROR: Minions returned with non-zero exit code (1 of 3)')
    expect(stderr).toContain('ERROR: Minions did not return (1 of 3)')
  })

  test('are one document, sorted by id, if they are gathered', async () => {
    const { printed } = await show([ok, bad], { isStatic: true })
    expect(printed).toHaveLength(1)
    expect(Object.keys(printed[0]?.[0] as object)).toEqual(['a', 'b'])
  })

  test('hide minions that did not return only in the text', async () => {
    const { printed, result } = await show([ok, silent], { showMissing: false })
    expect(printed).toHaveLength(1)
    expect(result).toBe(75)
  })

  test('have a summary that counts as that of Salt does and, if verbose, names; then come the states', async () => {
    const { stdout } = await show([ok, bad, silent], { summary: true, verbose: true })
    expect(stdout.split('\n')).toEqual([
      '',
      '',
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
      'States',
      '-'.repeat(43),
      'returned: 1',
      'failed: a. The minion returned with exit code 3.',
      'unknown: c. It did not answer.',
      '-'.repeat(43),
      '',
    ])
    const fine = await show([ok], { summary: true, verbose: true })
    expect(fine.stdout).toMatch(/errors: 0\n-+\n$/)
  })

  test('-v prints the states of minions that failed or did not return to standard error', async () => {
    const { stdout, stderr } = await show([ok, silent, { ...silent, id: 'c2' }], { verbose: true })
    expect(stdout).toBe('')
    expect(stderr).toContain('returned: 1\nunknown: c,c2 (2). It did not answer.\n')
    expect((await show([ok], { verbose: true })).stderr).toBe('')
  })

  test('full returns have everything that came, and a state for each minion', async () => {
    const { printed } = await show([{ ...bad, fun_args: [1] }, silent], { fullReturn: true, isStatic: true })
    const about = { jid: '1', fun: 'test.ping', fun_args: [1], retcode: 3, success: false, out: 'txt' }
    expect(printed).toEqual([
      [
        {
          a: {
            id: 'a',
            ...about,
            return: 'no',
            state: 'failed',
            reason: 'The minion returned with exit code 3.',
          },
          c: { id: 'c', jid: '1', state: 'unknown', reason: 'It did not answer.' },
        },
        { outputter: undefined },
      ],
    ])
  })

  test('are not printed with --progress, with the same exit code', async () => {
    const { printed, result, stdout } = await show([ok, bad], { silently: true })
    expect([printed, result, stdout]).toEqual([[], 1, ''])
  })
})

describe('equal returns, grouped', () => {
  const many = (count: number, value: unknown) =>
    Array.from({ length: count }, (_, n) => ({ ...ok, id: `web${n + 1}`, return: value }))

  test('are printed once, largest group first, failures separately, missing minions last', async () => {
    const results = [silent, { ...ok, id: 'odd', return: { a: 1 } }, ...many(12, true), bad]
    const { printed, result } = await show(results, { group: true })
    expect(printed).toEqual([
      [{ 'web[1-12] (12)': true }, { outputter: undefined, retcode: 0 }],
      [{ a: 'no' }, { outputter: 'txt', retcode: 3 }],
      [{ odd: { a: 1 } }, { outputter: undefined, retcode: 0 }],
      [{ c: 'Minion did not return. [No response]' }, { outputter: 'no_return' }],
    ])
    expect(result).toBe(1)
  })

  test('are equal whatever the order of their keys, and not if one failed or has a text for a number', async () => {
    const results = [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
      { a: '1', b: [2] },
    ].map((value, n) => ({
      ...ok,
      id: `web${n}`,
      return: value,
    }))
    const failed = { ...bad, id: 'web9', return: { a: 1, b: [2] } }
    const { printed } = await show([...results, failed], { group: true })
    expect(printed.map(([value]) => Object.keys(value as object)[0])).toEqual([
      'web[0,1] (2)',
      'web2',
      'web9',
    ])
  })

  test('are one map of a documented shape for machine-readable outputters', async () => {
    const printer = { chosen: 'json', print: vi.fn(async () => {}) }
    await show([...many(2, true), silent], { group: true, printer })
    const [web, gone] = [
      {
        ids: 'web[1,2]',
        minions: ['web1', 'web2'],
        count: 2,
        state: 'returned',
        reason: 'The minion returned.',
      },
      { ids: 'c', minions: ['c'], count: 1, state: 'unknown', reason: 'It did not answer.' },
    ]
    expect(printer.print.mock.calls).toEqual([
      [{ groups: [{ ...web, retcode: 0, success: true, return: true }, gone] }],
    ])
  })

  test('are stored once, however many minions return them', SLOW, async () => {
    const kept: WeakRef<object>[] = []
    async function* stream() {
      for (let n = 0; n < 300; n++) {
        const value = { text: 'x'.repeat(100_000) }
        kept.push(new WeakRef(value))
        yield { ...ok, id: `web${n}`, return: value }
        await new Promise((resolve) => setImmediate(resolve))
      }
      setFlagsFromString('--expose-gc')
      ;(runInNewContext('gc') as () => void)()
    }
    await captured(() => showResults(stream(), { ...plain, group: true }))
    expect(kept.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(5)
  })
})
