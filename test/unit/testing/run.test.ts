import { describe, expect, test } from 'vitest'
import { untyped } from '../../../core/author/calls.ts'
import { CommandExecutionError, fn, p } from '../../../core/author/index.ts'
import { real, run } from '../../../core/testing/index.ts'

const greet = fn({ name: p.string(), times: p.default(p.integer({ minimum: 1 }), 1) }, ({ name, times }) =>
  Array.from({ length: times }, () => `Hello, ${name}!`),
)

describe('arguments', () => {
  test('are bound, coerced and completed like by the loader', async () => {
    expect((await run(greet, { name: 'Ada' })).result).toEqual(['Hello, Ada!'])
    expect((await run(greet, ['Ada', '2'])).result).toEqual(['Hello, Ada!', 'Hello, Ada!'])
    expect((await run(greet, [7])).result[0]).toBe('Hello, 7!')
  })
  test('are refused with the sentence that a caller would read', async () => {
    await expect(run(greet, { name: 'Ada', times: 'x' }, { name: 'hello.greet' })).rejects.toThrow(
      `Passed invalid arguments to hello.greet: 'times' must be an integer, not "x"`,
    )
    await expect(run(greet)).rejects.toThrow("missing 1 required positional argument: 'name'")
    await expect(run(greet, { nom: 'Ada' })).rejects.toThrow('not valid: nom=Ada')
  })
  test('of a function without fn are positional', async () => {
    const plain = (a: number, b: number) => a + b
    expect((await run(plain, [1, 2])).result).toBe(3)
  })
  test('a value that is no function is refused', async () => {
    await expect(run({ greet })).rejects.toThrow('neither a function nor made by fn()')
  })
})

describe('the context of a function', () => {
  const look = fn((_, { grains, pillar, opts, id, nested, job }) => ({
    os: grains.os,
    key: pillar.key,
    own: opts['my.option'],
    tries: opts.auth_tries,
    id,
    nested,
    jid: job?.jid,
  }))
  test('has the values of the test, over the defaults', async () => {
    const { result } = await run(look, [], {
      id: 'web1',
      grains: { os: 'Debian' },
      pillar: { key: 'k' },
      opts: { 'my.option': 7 },
      job: { jid: '20260101000000000001' },
      nested: true,
    })
    expect(result).toMatchObject({ os: 'Debian', key: 'k', own: 7, id: 'web1', nested: true })
    expect(result).toMatchObject({ tries: expect.any(Number), jid: '20260101000000000001' })
    const plain = await run(look)
    expect(plain.result).toMatchObject({ id: 'minion', nested: false })
    expect(plain.result).not.toHaveProperty('jid')
  })
  test('an option of the wrong type is refused', async () => {
    await expect(run(look, [], { opts: { auth_tries: 'many' } })).rejects.toThrow(/auth_tries/)
  })
  test('matches targets for the simulated minion', async () => {
    const isMine = fn((_, { match }) => match('os:Debian', 'grain'))
    expect((await run(isMine, [], { grains: { os: 'Debian' } })).result).toBe(true)
    expect((await run(isMine, [], { grains: { os: 'Arch' } })).result).toBe(false)
  })
})

describe('calls', () => {
  const whoami = fn(async (_, { call }) => (await call('cmd.run', { cmd: 'id -un' })).trim())
  test('return the value of the test, the result of its function, or of another module function', async () => {
    expect((await run(whoami, [], { calls: { 'cmd.run': 'ada\n' } })).result).toBe('ada')
    const { result } = await run(whoami, [], { calls: { 'cmd.run': ({ cmd }) => `ran ${cmd}` } })
    expect(result).toBe('ran id -un')
    const twice = fn({ cmd: p.string() }, ({ cmd }) => cmd.repeat(2))
    expect((await run(whoami, [], { calls: { 'cmd.run': twice } })).result).toBe('id -unid -un')
  })
  test('are recorded with the values of all parameters, however they were passed', async () => {
    const byPosition = fn((_, { call }) => call('cmd.run', ['id'], { cwd: '/' }))
    const { calls } = await run(byPosition, [], { calls: { 'cmd.run': '' } })
    expect(calls).toEqual([
      { name: 'cmd.run', given: expect.objectContaining({ cmd: 'id', cwd: '/', bg: false }) },
    ])
  })
  test('of a function that exists are refused as it would refuse them', async () => {
    const wrong = fn((_, { call }) => call(untyped('cmd.run'), { command: 'id' }))
    await expect(run(wrong, [], { calls: { 'cmd.run': '' } })).rejects.toThrow('not valid: command=')
  })
  test('can run the real function', async () => {
    const echo = fn((_, { call }) => call('test.echo', ['here']))
    expect((await run(echo, [], { calls: { 'test.echo': real } })).result).toBe('here')
  })
  test('that the test does not define are refused with how to define them', async () => {
    await expect(run(whoami)).rejects.toThrow("{ calls: { 'cmd.run': … } }")
    await expect(run(whoami, [], { calls: { 'cmd.runn': '' } })).rejects.toThrow("Did you mean 'cmd.runn'?")
  })
  test('of unknown functions get their arguments unchanged', async () => {
    const odd = fn((_, { call }) => call(untyped('ours.unheard_of'), [1], { b: 2 }))
    const { calls, result } = await run(odd, [], { calls: { 'ours.unheard_of': ({ args, b }) => [args, b] } })
    expect(result).toEqual([[1], 2])
    expect(calls).toEqual([{ name: 'ours.unheard_of', given: { args: [1], b: 2 } }])
  })
  test('that fail set the exit code of the job', async () => {
    const failing = fn((_, context) => {
      context.retcode = 3
      return 'no'
    })
    const outer = fn((_, { call }) => call(untyped('ours.failing')))
    expect(await run(outer, [], { calls: { 'ours.failing': failing } })).toMatchObject({
      result: 'no',
      retcode: 3,
    })
  })
})

describe('the effects of a function', () => {
  test('on log, events and scratch values can be inspected', async () => {
    const busy = fn(async (_, { log, minion, context }) => {
      log.warn('careful', { of: 'it' })
      context.set('seen', true)
      await minion.fire('here', { n: 1 })
      await minion.fireMaster('there', { n: 2 }, { pretag: 'my' })
    })
    const ran = await run(busy)
    expect(ran.log).toEqual([{ level: 'warn', message: 'careful', facts: { of: 'it' } }])
    expect(ran.events).toEqual([
      { bus: 'minion', tag: 'here', data: { n: 1 } },
      { bus: 'master', tag: 'my/there', data: { n: 2 } },
    ])
    expect(ran.context.context.get('seen')).toBe(true)
  })
  test('as rows are visible, and are the result if it returns nothing', async () => {
    const count = fn({ to: p.integer() }, async function* ({ to }) {
      for (let n = 1; n <= to; n++) yield n
    })
    expect(await run(count, [3])).toMatchObject({ result: [1, 2, 3], rows: [1, 2, 3] })
    const sum = fn(async function* () {
      yield 1
      return 'done'
    })
    expect(await run(sum)).toMatchObject({ result: 'done', rows: [1] })
  })
  test('as errors reach the test', async () => {
    const fails = fn(() => {
      throw new CommandExecutionError('no room')
    })
    await expect(run(fails)).rejects.toThrow('no room')
  })
  test('include its signal, which is that of the test', async () => {
    const waits = fn((_, { signal }) => signal.aborted)
    expect((await run(waits, [], { signal: AbortSignal.abort() })).result).toBe(true)
  })
  test('as a wrong result are an error', async () => {
    const wrong = fn({}, () => JSON.parse('"1"') as number, { returns: p.number() })
    await expect(run(wrong)).rejects.toThrow(`'result' must be a number, not "1"`)
  })
})

describe('the minion and the master', () => {
  test('of a function on a minion are simulated by the test, and otherwise explained in a sentence', async () => {
    const asks = fn((_, { minion }) => minion.request({ cmd: '_mine' }))
    await expect(run(asks)).rejects.toThrow("context.minion.request({ cmd: '_mine' })")
    const { result } = await run(asks, [], { minion: { request: async ({ cmd }) => [cmd] } })
    expect(result).toEqual(['_mine'])
    await expect(run(fn((_, { master }) => master.acceptedIds()))).rejects.toThrow(/available to runners/)
  })
  test('of a runner are simulated by the test', async () => {
    const up = fn((_, { master }) => master.connectedIds())
    expect((await run(up, [], { master: { connectedIds: async () => ['web1'] } })).result).toEqual(['web1'])
    const ping = fn(async (_, { master }) => {
      const answers = []
      for await (const { id } of master.run({ tgt: '*', fun: 'test.ping' })) answers.push(id)
      return answers
    })
    await expect(run(ping, [], { master: {} })).rejects.toThrow("context.master.run({ fun: 'test.ping' })")
    const { result } = await run(ping, [], {
      master: {
        async *run() {
          yield { id: 'web1', return: true }
        },
      },
    })
    expect(result).toEqual(['web1'])
    await expect(
      run(
        fn((_, { minion }) => minion.running()),
        [],
        { master: {} },
      ),
    ).rejects.toThrow(/this is a runner/)
  })
})
