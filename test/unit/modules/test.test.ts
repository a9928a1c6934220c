import { beforeAll, describe, expect, test } from 'vitest'
import type { Context, Job } from '../../../core/author/index.ts'
import { Float } from '../../../core/codec/index.ts'
import { createContext, type Loader, openLoader } from '../../../core/loader/index.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { SLOW } from '../../harness/slow.ts'
import { fakeContext } from './context.ts'

let loader: Loader
beforeAll(() => {
  loader = openLoader('modules', { config: { extension_modules: '/nonexistent' }, log: fakeContext().log })
})

const jid = '20240101000000000000'

/** Run as a job: bound from what was published, with what the job says of itself. */
async function run(name: string, args: unknown[] = [], kwargs = {}, overrides: Partial<Context> = {}) {
  const found = await loader.get(name)
  if (!found) return loader.why(name)
  const context = createContext(fakeContext({ job: { jid } as Job, ...overrides }), loader)
  const bound = found.bind(args, kwargs, { jid })
  return { return: await found.run(bound, context), retcode: context.retcode }
}
const value = async (...call: Parameters<typeof run>) => {
  const outcome = await run(...call)
  return typeof outcome === 'string' ? outcome : outcome.return
}

describe('arguments', () => {
  test('echo returns any value unchanged', async () => {
    const values = ['text', 1, true, null, [1, { a: 'b' }], new Float(1)]
    for (const given of values) expect(await value('test.echo', [given])).toBe(given)
  })
  test('arg and kwarg also return job fields, arg_clean does not', async () => {
    const __pub_jid = jid
    expect(await value('test.arg', [1, 'two'], { a: 3 })).toEqual({
      args: [1, 'two'],
      kwargs: { a: 3, __pub_jid },
    })
    expect(await value('test.kwarg', [], { a: 3 })).toEqual({ a: 3, __pub_jid })
    expect(await value('test.arg_clean', [1], { a: 3, __x: 1 })).toEqual({ args: [1], kwargs: { a: 3 } })
  })
  test('types and representations are those of Python', async () => {
    const given = [1, 1.5, new Float(2), 'it', true, null, [1], { a: 1 }, 10n ** 18n, Buffer.from('b')]
    const types = ['int', 'float', 'float', 'str', 'bool', 'NoneType', 'list', 'dict', 'int', 'bytes']
    expect(await value('test.arg_type', given)).toMatchObject({
      args: types.map((type) => `<class '${type}'>`),
    })
    expect(await value('test.arg_repr', [...given, "it's", 'a\n\0'], { k: [true, null] })).toEqual({
      args: `(1, 1.5, 2.0, 'it', True, None, [1], {'a': 1}, 1000000000000000000, b'b', "it's", 'a\\n\\x00')`,
      kwargs: expect.stringContaining("'k': [True, None]"),
    })
  })
})

describe('outcomes', () => {
  test('ping, true and false return their values', async () => {
    expect([await value('test.ping'), await value('test.true'), await value('test.false')]).toEqual([
      true,
      true,
      false,
    ])
  })
  test('retcode sets the exit code of the job', async () => {
    expect(await run('test.retcode')).toEqual({ return: true, retcode: 42 })
    expect(await run('test.retcode', ['3'])).toEqual({ return: true, retcode: 3 })
  })
  test('exception throws', async () => {
    await expect(run('test.exception')).rejects.toThrow('Test Exception')
    await expect(run('test.exception', ['Oh noes!'])).rejects.toThrow('Oh noes!')
  })
  test.each([
    ['salt.exceptions.CommandExecutionError', { code: 'COMMAND_EXECUTION', message: 'a 1' }],
    ['CommandNotFoundError', { code: 'COMMAND_NOT_FOUND' }],
    ['SaltInvocationError', { code: 'INVOCATION' }],
    ['TypeError', { name: 'TypeError', stack: expect.stringMatching(/^TypeError: a 1\n/) }],
  ])('raise_exception %s', async (name, error) => {
    await expect(run('test.raise_exception', [name, 'a', 1])).rejects.toMatchObject(error)
  })
  test('assertion fails on values that are false in Python', async () => {
    for (const truth of [true, 1, 'x', [0], { a: 1 }])
      expect(await value('test.assertion', [truth])).toBeNull()
    for (const falsehood of [false, 0, '', [], {}, null, new Float(0)]) {
      await expect(run('test.assertion', [falsehood])).rejects.toMatchObject({ name: 'AssertionError' })
    }
  })
  test('missing_func is reported as missing', async () => {
    expect(await run('test.missing_func')).toBe("'test.missing_func' is not available.")
  })
})

describe('calls of other functions', () => {
  test('cross_test calls the function', async () => {
    expect(await value('test.cross_test', ['test.echo'], { args: ['hello'] })).toBe('hello')
    expect(await value('test.cross_test', ['test.ping'])).toBe(true)
  })
  test('try returns null, or the message, if the function fails', async () => {
    expect(await value('test.try', [], { module: 'test.ping' })).toBe(true)
    expect(await value('test.try', ['test.exception'], { message: 'x' })).toBeNull()
    expect(await value('test.try', ['test.exception'], { message: 'x', return_try_exception: true })).toBe(
      'x',
    )
  })
  test('conf_test reads test.foo', async () => {
    expect(await value('test.conf_test', [], {}, { opts: { 'test.foo': 'baz' } })).toBe('baz')
  })
})

describe('other functions', () => {
  test('outputter returns its data, tty the terminal it wrote to, stack names this place', async () => {
    expect(await value('test.outputter', [{ a: 1 }])).toEqual({ a: 1 })
    expect(await value('test.tty', ['tty0', 'x'])).toContain('moved to cmd.tty')
    expect(await value('test.stack')).toMatch(/^ +at /)
  })
  test('attr_call returns the grains', async () => {
    expect(await value('test.attr_call', [], {}, { grains: { os: 'X' } })).toEqual({ os: 'X' })
  })
  test('deprecation_warning warns in the log', async () => {
    const warned: string[] = []
    const log = { ...fakeContext().log, warn: (message: string) => void warned.push(message) }
    expect(await value('test.deprecation_warning', [], {}, { log })).toBe(true)
    expect(warned).toEqual([expect.stringContaining('deprecation')])
  })
})

describe('time', () => {
  test('sleep takes the given time and wakes when the job is killed', async () => {
    expect(await value('test.sleep', ['0.01'])).toBe(true)
    expect(await value('test.rand_sleep', [0])).toBe(true)
    const kill = new AbortController()
    const sleeping = run('test.sleep', [600], {}, { signal: kill.signal })
    kill.abort()
    await expect(sleeping).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('numbers', () => {
  test('fib and collatz return the seconds they took, too', async () => {
    const seconds = expect.any(Number)
    expect(await value('test.fib', [10])).toEqual([55, seconds])
    expect(await value('test.fib', [92])).toEqual([7540113804746346429n, seconds])
    expect(await value('test.collatz', [3])).toEqual([
      [3, 10, ...[5, 16, 8, 4, 2].map((n) => new Number(n))],
      seconds,
    ])
    await expect(run('test.fib', [93])).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
  })
  test('random_hash works, also by its old name rand_str', async () => {
    expect(await value('test.random_hash')).toMatch(/^[0-9a-f]{64}$/)
    expect(await value('test.rand_str', [], {}, { opts: { hash_type: 'md5' } })).toMatch(/^[0-9a-f]{32}$/)
    await expect(run('test.random_hash', [], { hash_type: 'nonsense' })).rejects.toMatchObject({
      code: 'INVOCATION',
    })
  })
})

describe('facts', () => {
  test('versions are returned', async () => {
    expect(await value('test.version')).toBe(manifest.version)
    const versions = await value('test.versions_information')
    expect(versions).toMatchObject({
      'Salt Version': { Salt: manifest.version },
      'Dependency Versions': { lmdb: manifest.dependencies.lmdb },
    })
    expect(await value('test.versions_report')).toMatch(
      /^Salt Version:\n +Salt: \d+\.\d+\.\d+\n\nNode Version:\n/,
    )
    expect(await value('test.versions')).toBe(await value('test.versions_report'))
  })
  test('options come with secrets masked', async () => {
    const opts = { id: 'm1', master_password: 'hunter2' }
    expect(await value('test.get_opts', [], {}, { opts })).toEqual({
      id: 'm1',
      master_password: '**********',
    })
    expect(await value('test.opts_pkg', [], {}, { opts, grains: { os: 'X' } })).toMatchObject({
      grains: { os: 'X' },
    })
  })
  test('providers and modules that were not loaded are named by file', SLOW, async () => {
    expect(await value('test.provider', ['test'])).toBe('test')
    expect(await value('test.provider', ['nonsense'])).toBe('')
    expect(await value('test.providers')).toMatchObject({ test: 'test', sys: 'sys' })
    expect(await value('test.not_loaded')).toContain('yumpkg')
  })
  test('module_report finds every listed function', async () => {
    const report = await value('test.module_report')
    expect(report).toMatchObject({ missing_attrs: [], missing_subs: [] })
    expect(report).toHaveProperty('functions', expect.arrayContaining(['test.ping', 'test.try', 'sys.doc']))
  })
})
