/** What runs the functions of a job, as Salt has it: executors, one after the other. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MinionServices } from '../../../../core/author/context.ts'
import { openLoader, refusalsHere } from '../../../../core/loader/index.ts'
import { Executors } from '../../../../core/minion/jobs/executors.ts'
import { executeJob } from '../../../../core/minion/jobs/job-runner.ts'
import { readJobLoad } from '../../../../core/wire/publication.ts'
import splay from '../../../../plugins/executors/splay.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { fakeContext } from '../../modules/context.ts'

let folder: string

const probe = `
import { fn, p } from 'salt-ts'
export const echo = fn({ text: p.string(), more: p.rest(p.any()) }, ({ text, more }) => [text, ...more])
export const nothing = fn(() => null)
`
/** Notes what it gets, and hands the call on unless the options say what to answer. */
const notes = `
import { executor } from 'salt-ts'
export default executor({
  execute({ run, ...call }, { id, context, retcode }) {
    globalThis.recordedCalls.push({ ...call, id, retcode })
    return call.options.answer
  },
})
`
const elsewhere = `
import { executor } from 'salt-ts'
export default executor({
  execute: ({ fun, args, kwargs }, context) => {
    context.retcode = 7
    return { fun, args, kwargs }
  },
  allowMissingFunc: (fun) => fun.startsWith('far.'),
})
`
const recordedCalls: unknown[] = Object.assign(globalThis, { recordedCalls: [] }).recordedCalls

beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-executors-')
  for (const kind of ['modules', 'executors', 'bin']) await mkdir(join(folder, kind))
  await writeFile(join(folder, 'modules/probe.ts'), probe)
  await writeFile(join(folder, 'executors/notes.ts'), notes)
  await writeFile(join(folder, 'executors/elsewhere.ts'), elsewhere)
  await writeFile(join(folder, 'executors/empty.ts'), 'export default {}\n')
})
afterAll(() => removeFolder(folder))

interface Asked {
  readonly fun?: string
  readonly arg?: readonly unknown[]
  readonly words?: Parameters<typeof executeJob>[3]
  readonly config?: Readonly<Record<string, unknown>>
  readonly module_executors?: unknown
  readonly executor_opts?: unknown
}

function run({ fun = 'probe.echo', arg = ['hello'], words, config: more = {}, ...executorFields }: Asked) {
  const config = { module_dirs: [folder], ...more }
  const services = { fireMaster: async () => true } as unknown as MinionServices
  const facts = { config, grains: {}, pillar: {}, log: quietLog }
  const job = readJobLoad({
    fun,
    arg,
    tgt: '*',
    jid: '20261121120000000001',
    user: 'root',
    ...executorFields,
  })!
  recordedCalls.length = 0
  return executeJob(
    job,
    {
      id: 'web1',
      services,
      match: async () => true,
      ...facts,
      loader: openLoader('modules', facts),
      executors: new Executors({ ...facts, ofJobs: true }),
    },
    new AbortController().signal,
    words,
  )
}

describe('a job', () => {
  test('is run by the first executor that returns something', async () => {
    const ret = await run({ module_executors: ['notes', 'direct_call'] })
    expect(ret).toMatchObject({ return: ['hello'], retcode: 0, success: true })
    expect(recordedCalls).toEqual([
      { fun: 'probe.echo', args: ['hello'], kwargs: {}, options: {}, id: 'web1', retcode: 0 },
    ])
    const answered = await run({
      module_executors: ['notes', 'elsewhere', 'direct_call'],
      executor_opts: { answer: 'mine' },
    })
    expect(answered).toMatchObject({ return: 'mine', retcode: 0 })
  })

  test('for which no executor returns anything returns nothing', async () => {
    expect(await run({ module_executors: ['notes'] })).toMatchObject({ return: null, success: true })
    expect(
      await run({ fun: 'probe.nothing', arg: [], module_executors: ['direct_call', 'notes'] }),
    ).toMatchObject({
      return: null,
    })
    expect(recordedCalls).toHaveLength(1)
  })

  test.each([['elsewhere'], [['elsewhere']]])(
    'can name its executors as %j, and they set its exit code',
    async (named) => {
      expect(await run({ module_executors: named })).toMatchObject({
        return: { fun: 'probe.echo', args: ['hello'], kwargs: {} },
        retcode: 7,
        success: false,
      })
    },
  )

  test('without executors uses those of the configuration', async () => {
    const config = { module_executors: ['elsewhere'] }
    for (const module_executors of [undefined, null, [], ''])
      expect(await run({ config, module_executors })).toMatchObject({ retcode: 7 })
    expect(await run({ config, module_executors: ['direct_call'] })).toMatchObject({ retcode: 0 })
  })

  test('passes its executors the arguments as the function would get them', async () => {
    const arg = [1.1, 755, { __kwarg__: true }]
    await run({ arg, words: { args: ['1.10', '0755'], kwargs: {} }, module_executors: 'notes' })
    expect(recordedCalls).toMatchObject([{ args: ['1.10', 755], kwargs: {} }])
    await run({ arg: [{ __kwarg__: true, text: '7' }], module_executors: 'notes' })
    expect(recordedCalls).toMatchObject([{ args: [], kwargs: { text: '7' } }])
  })

  test('with wrong arguments reaches no executor', async () => {
    const ret = await run({ arg: [], module_executors: ['notes'] })
    expect(ret.return).toContain("missing 1 required positional argument: 'text'")
    expect(recordedCalls).toEqual([])
  })

  test('with an unknown executor runs nothing, and says why', async () => {
    const ret = await run({ module_executors: ['notes', 'elswhere'] })
    expect(ret).toMatchObject({ retcode: 1, success: false })
    expect(ret.return).toMatch(
      /^ERROR executing 'probe.echo': Executor 'elswhere' is not available: There is no 'elswhere' .* Did you mean 'elsewhere'\?$/,
    )
    expect(recordedCalls).toEqual([])
    expect((await run({ module_executors: ['empty'] })).return).toContain(
      'its default export has no execute()',
    )
    expect((await run({ module_executors: [3, 2n ** 60n] })).return).toBe(
      "ERROR executing 'probe.echo': Wrong executors specification: [3, 1152921504606846976]. String or non-empty list expected",
    )
  })

  test('with an unknown function is run if an executor accepts it', SLOW, async () => {
    const far = { fun: 'far.away', arg: [1, { __kwarg__: true, name: 'x' }] }
    expect(await run({ ...far, module_executors: ['elsewhere'] })).toMatchObject({
      return: { fun: 'far.away', args: [1], kwargs: { name: 'x' } },
    })
    const missing = "'near.by' is not available."
    expect(await run({ fun: 'near.by', module_executors: ['elsewhere'] })).toMatchObject({ return: missing })
    const config = { module_dirs: [folder], module_executors: ['elsewhere'] }
    const check = refusalsHere(
      ['far.away', 'near.by'].map((fun) => ({ fun, arg: [] })),
      openLoader('modules', { config, log: quietLog }),
      new Executors({ config, log: quietLog, ofJobs: true }).isElsewhere,
    )
    expect(await check).toEqual([null, missing])
  })
})

describe('splay', () => {
  /** The job ends at once; what is left is the line that says how long it would wait. */
  function waitOf(id: string, options: object, opts: object = {}) {
    const context = { ...fakeContext({ id, opts: { ...opts } }), signal: AbortSignal.abort() }
    const ended = splay.execute(
      { fun: 'a.b', args: [], kwargs: {}, options: { ...options }, run: never },
      context,
    )
    return { ended: Promise.resolve(ended), lines: context.lines.map(({ message }) => message) }
  }
  const never = async () => expect.fail('the function is not for splay to run')

  // What Salt 3006 gives for these names.
  test.each([
    ['web1', 234],
    ['db-9.example.com', 99],
    ['münchen', 284],
    ['a', 189],
  ])('has %s wait as long as in Salt: %i of 300 seconds', async (id, seconds) => {
    for (const [options, opts] of [
      [{}, { splaytime: 300 }],
      [{ splaytime: 300 }, { splaytime: 9 }],
    ] as const) {
      const { ended, lines } = waitOf(id, options, opts)
      expect(lines).toEqual([`Splay is sleeping ${seconds} secs on a.b`])
      await expect(ended).rejects.toThrow('aborted')
    }
  })

  test.each([0, -1, 'long', true])('refuses splaytime %j', async (splaytime) => {
    const ret = await run({ module_executors: ['splay', 'direct_call'], executor_opts: { splaytime } })
    expect(ret.return).toBe("ERROR executing 'probe.echo': splaytime must be a positive integer")
  })

  test('passes the call on', async () => {
    const ret = await run({ module_executors: ['splay', 'direct_call'], executor_opts: { splaytime: 0.001 } })
    expect(ret).toMatchObject({ return: ['hello'] })
  })
})
