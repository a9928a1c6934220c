/** How a function ends, in Salt's sentences (wire protocol §10.3). */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MinionServices } from '../../../../core/author/context.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import { decode, encodeNetwork } from '../../../../core/codec/index.ts'
import { openLoader } from '../../../../core/loader/index.ts'
import { executeJob, type RunnerSettings } from '../../../../core/minion/jobs/job-runner.ts'
import { recordingLog } from '../../../../core/testing/recording-log.ts'
import { type JobLoad, readJobLoad } from '../../../../core/wire/publication.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

const ends = `
import { CommandExecutionError, CommandNotFoundError, fn, p, SaltInvocationError } from 'salt-ts'

/** Say a word.
 *  @example salt '*' ends.say hello */
export const say = fn({ word: p.string() }, ({ word }) => word)
export const command = fn(() => { throw new CommandExecutionError('it would not') })
export const program = fn(() => { throw new CommandNotFoundError('frobnicate') })
export const invocation = fn(() => { throw new SaltInvocationError('not like this') })
export const other = fn(() => { throw new TypeError('on purpose') })
export const code = fn({ value: p.any() }, ({ value }, context) => { context.retcode = 3; return value })
export const result = fn({ value: p.any() }, ({ value }) => value)
export const steps = fn(async function* () { yield 'one'; yield 'two' })
export const waits = fn({}, (_, { signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))))
export const killed = fn({}, (_, { job }) => { setImmediate(() => globalThis.endOfJob(job)); return -15 })
export const caused = fn(() => {
  throw new Error('cannot fetch', { cause: new AggregateError([new Error('connect ECONNREFUSED')], 'all failed') })
})
export const foreseen = fn(() => { throw new CommandExecutionError('it would not', { cause: new Error('no such host') }) })
export const rows = fn(async function* () { yield 'one'; yield { f: () => 1 }; yield 'three' })
const odd = [
  () => Object.create(null),
  () => ({ toString() { throw 1 } }),
  () => Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } }),
  () => Object.defineProperty(new Error('x'), 'stack', { get() { throw 1 } }),
  () => Object.defineProperty(new Error('x'), 'cause', { get() { throw 1 } }),
  () => new AggregateError([new Error('one'), Object.create(null)]),
  () => new Proxy({}, { get() { throw 1 }, has() { throw 1 } }),
  () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy },
]
export const oddly = fn({ which: p.integer() }, ({ which }) => { throw odd[which]() })
export const repeats = fn({ text: p.string() }, ({ text }, { log }) => log.warn(\`got \${text}\`))
export const tells = fn({ password: p.secret(p.string()), keys: p.secret(p.any()) }, async ({ password, keys }, { log, call }) => {
  log.info(\`with \${password}\`, { keys, first: keys.list[0], error: new Error(password), pin: keys.pin })
  await call('ends.repeats', [password])
  throw new Error(\`\${password} was refused\`)
})
export const login = fn({ user: p.string(), password: p.secret(p.string()) }, ({ user }) => user)
`

let folder: string
let settings: RunnerSettings
const fired: [string, unknown][] = []

beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-runner-')
  await mkdir(join(folder, 'modules'))
  await writeFile(join(folder, 'modules', 'ends.ts'), ends)
  await writeFile(
    join(folder, 'modules', 'hangs.js'),
    'await new Promise(() => {})\nexport const never = () => true\n',
  )
  const login = ends.trim().split('\n').at(-1)
  const refused = `import { fn, p } from 'salt-ts'\nexport const virtual = () => 'not here'\n${login}\n`
  await writeFile(join(folder, 'modules', 'refused.js'), refused)
  await writeFile(join(folder, 'modules', 'broken.js'), `import 'nothing-of-this-name'\n${refused}`)
  const config = { module_dirs: [folder] }
  const services = {
    fireMaster: async (tag: string, data: unknown) => fired.push([tag, data]) > 0,
    request: async (load: object) => {
      const { events } = decode(encodeNetwork(load)) as { events: { tag: string; data: unknown }[] }
      fired.push(...events.map(({ tag, data }): [string, unknown] => [tag, data]))
      return null
    },
  } as unknown as MinionServices
  const loader = openLoader('modules', { config, log: quietLog })
  settings = {
    id: 'web1',
    config,
    grains: {},
    pillar: {},
    loader,
    services,
    match: async () => true,
    log: quietLog,
  }
})
afterAll(() => removeFolder(folder))

const jobOf = (fun: string | string[], arg: unknown[]) =>
  readJobLoad({ fun, arg, tgt: '*', jid: '20261121120000000001', user: 'root' })!

async function run(fun: string | string[], arg: unknown[] = [], signal = new AbortController().signal) {
  return executeJob(jobOf(fun, arg), settings, signal)
}

describe('a function that fails', () => {
  const failed = { success: false, retcode: 1, out: 'nested' }

  test.each([
    ['is not there', 'nosuch.function', "'nosuch.function' is not available."],
    ['is not in its module', 'ends.nosuch', "'ends.nosuch' is not available."],
    [
      'lacks an argument',
      'ends.say',
      "Passed invalid arguments to ends.say: say() missing 1 required positional argument: 'word'",
    ],
    ['could not run a command', 'ends.command', 'ERROR: it would not'],
    ['misses a program', 'ends.program', "Command required for 'ends.program' not found: frobnicate"],
    ['was called in a wrong way', 'ends.invocation', "ERROR executing 'ends.invocation': not like this"],
    ['throws', 'ends.other', 'The minion function caused an exception: TypeError: on purpose'],
  ])('because it %s reports this', async (_, fun, text) => {
    const ret = await run(fun)
    expect(ret).toMatchObject({ ...failed, fun })
    expect(String(ret.return).slice(0, text.length)).toBe(text)
  })

  test('with a cause shows the cause, and the causes of that', async () => {
    const text = String((await run('ends.caused')).return)
    expect(text).toMatch(
      /Error: cannot fetch[\s\S]*Caused by: AggregateError: all failed[\s\S]*Caused by: Error: connect ECON/,
    )
    expect((await run('ends.foreseen')).return).toBe('ERROR: it would not\nCaused by: no such host')
  })

  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'with a value that cannot be shown fails nevertheless (%i)',
    async (which) => {
      const ret = await run('ends.oddly', [which])
      expect(ret).toMatchObject(failed)
      expect(ret.return).toContain('The minion function caused an exception: ')
    },
  )

  test('because a row cannot be sent names the row and the place', async () => {
    expect((await run('ends.rows')).return).toBe(
      'ERROR: The value cannot be encoded: rows[1].f is a function.',
    )
  })

  test('because of its arguments shows how to call it', async () => {
    expect((await run('ends.say', ['a', 'b'])).return).toBe(
      "Passed invalid arguments to ends.say: say() takes 1 positional argument but 2 were given\n\nSay a word.\n\nCLI Example:\n\n    salt '*' ends.say hello\n\nParameters:\n\n    word: string",
    )
  })

  test('because its module never finishes loading is given up', SLOW, async () => {
    const { config } = settings
    const loader = openLoader('modules', { config, log: quietLog, timeoutMs: 300 })
    const job = jobOf('hangs.never', ['x'])
    const ret = await executeJob(job, { ...settings, loader }, new AbortController().signal)
    expect(ret).toMatchObject({
      ...failed,
      return: expect.stringContaining('did not finish loading within 0.3 s'),
    })
  })

  test('with an exception fires an event to the master', async () => {
    fired.length = 0
    await run('ends.other')
    expect(fired).toEqual([
      [
        '_salt_error',
        { message: 'The minion function caused an exception', args: ['ends.other', 'on purpose'] },
      ],
    ])
  })

  test('because its command was killed by the same signal reports that, too', async () => {
    const abort = new AbortController()
    const endOfJob = () => abort.abort(new SaltError('CANCELLED', 'Job 1 was ended by SIGTERM.'))
    Object.assign(globalThis, { endOfJob })
    expect(await run('ends.killed', [], abort.signal)).toMatchObject({
      return: 'ERROR: Job 1 was ended by SIGTERM.',
      retcode: 1,
    })
  })

  test('because its job was ended reports what ended it', async () => {
    const abort = new AbortController()
    const running = run('ends.waits', [], abort.signal)
    setImmediate(() => abort.abort(new SaltError('CANCELLED', 'Job 1 was ended by SIGTERM.')))
    expect(await running).toMatchObject({ ...failed, return: 'ERROR: Job 1 was ended by SIGTERM.' })
  })
})

describe('retcode and success', () => {
  test.each([
    ['the code the function set', 'ends.code', { result: true }, 3],
    ['1 for a result that is false', 'ends.result', { result: false }, 1],
    ['1 for a success that is false', 'ends.result', { success: false }, 1],
    ['0 for false alone', 'ends.result', false, 0],
    ['0 for a list', 'ends.result', [{ result: false }], 0],
  ])('are %s', async (_, fun, value, retcode) => {
    expect(await run(fun, [{ __kwarg__: true, value }])).toMatchObject({
      retcode,
      success: retcode === 0,
      return: value,
    })
  })
})

test('a keyword argument is accepted as a word or in a map, and returned without its marker', async () => {
  expect(await run('ends.say', ['word=hello'])).toMatchObject({ return: 'hello', fun_args: ['word=hello'] })
  expect(await run('ends.say', [{ __kwarg__: true, word: 'hello' }])).toMatchObject({
    return: 'hello',
    fun_args: [{ word: 'hello' }],
  })
})

test('rows that a function yields are events, and together its return', async () => {
  fired.length = 0
  expect((await run('ends.steps')).return).toEqual(['one', 'two'])
  expect(fired).toEqual([
    ['salt/job/20261121120000000001/prog/web1/0', expect.objectContaining({ data: { return: 'one' } })],
    ['salt/job/20261121120000000001/prog/web1/1', expect.objectContaining({ data: { return: 'two' } })],
  ])
})

test('each of several functions has its own result', async () => {
  expect(await run(['ends.say', 'ends.command'], [['hello'], []])).toMatchObject({
    return: { 'ends.say': 'hello', 'ends.command': 'ERROR: it would not' },
    retcode: { 'ends.say': 0, 'ends.command': 1 },
    success: { 'ends.say': true, 'ends.command': false },
    fun_args: [['hello'], []],
  })
})

describe('a secret argument', () => {
  test.each([
    ['by its place', ['ada', 'hunter2'], ['ada', '**********']],
    [
      'by its name, in a map',
      ['ada', { __kwarg__: true, password: 'hunter2' }],
      ['ada', { password: '**********' }],
    ],
    ['by its name, in a word', ['user=ada', 'password=hunter2'], ['user=ada', 'password=**********']],
  ])('is masked in the return: given %s', async (_, arg, shown) => {
    expect(await run('ends.login', arg)).toMatchObject({ return: 'ada', fun_args: shown })
    expect(await run(['ends.login', 'test.ping'], [arg, []])).toMatchObject({ fun_args: [shown, []] })
  })

  test('is masked in the return of a call that fails, too', async () => {
    const ret = await run('ends.login', ['ada', 'hunter2', 'more'])
    expect(JSON.stringify(ret)).not.toContain('hunter2')
    expect(ret.success).toBe(false)
  })

  test.each([
    ['says itself that it is not offered', 'refused.login', {}, ['ada', '**********']],
    ['is not in whitelist_modules', 'ends.login', { whitelist_modules: ['test'] }, ['ada', '**********']],
    ['is in disable_modules', 'ends.login', { disable_modules: ['ends'] }, ['**********', '**********']],
    ['is broken', 'broken.login', {}, ['**********', '**********']],
    ['never finishes loading', 'hangs.never', {}, ['**********', '**********']],
  ])('is masked in the return of a function whose module %s', SLOW, async (_, fun, changes, shown) => {
    const config = { ...settings.config, ...changes }
    const hangs = fun === 'hangs.never'
    const loader = openLoader('modules', { config, log: quietLog, ...(hangs && { timeoutMs: 100 }) })
    const job = jobOf(fun, ['ada', 'hunter2'])
    const ret = await executeJob(job, { ...settings, loader }, new AbortController().signal)
    expect(ret).toMatchObject({ success: false, fun_args: shown })
  })

  test('of an unknown function cannot be identified: all its arguments are masked', async () => {
    expect(await run('nosuch.function', ['ada'])).toMatchObject({ fun_args: ['**********'] })
  })
})

test('arguments are published as they may be shown before the job runs, unless it has none', async () => {
  const told: unknown[] = []
  const onShown = async ({ arg }: JobLoad) => void told.push(arg)
  for (const arg of [['hello'], []]) {
    await executeJob(jobOf('ends.say', arg), { ...settings, onShown }, new AbortController().signal)
  }
  expect(told).toEqual([['hello']])
})

test('values of p.secret parameters are masked in what the function logs, and in what it throws', async () => {
  const lines: unknown[] = []
  const log = recordingLog((_, message, facts) => void lines.push([message, facts]))
  const job = jobOf('ends.tells', [
    'hunter2!',
    { __kwarg__: true, keys: { list: ['private key'], pin: '12' } },
  ])
  fired.length = 0
  const outcome = await executeJob(job, { ...settings, log }, new AbortController().signal)
  expect(outcome.return).toContain('Error: ********** was refused')
  expect(lines).toEqual([
    [
      'with **********',
      {
        keys: { list: ['**********'], pin: '12' },
        first: '**********',
        error: new Error('**********'),
        pin: '12',
      },
    ],
    ['got **********', undefined],
  ])
  expect(JSON.stringify([outcome, lines, fired], errorsToo)).not.toMatch(/hunter2|private key/)
})

const errorsToo = (_: string, value: unknown) => (value instanceof Error ? value.stack : value)
