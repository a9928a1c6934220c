import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { MinionServices } from '../../../core/author/context.ts'
import { SaltError } from '../../../core/base/errors.ts'
import { type Loader, openLoader } from '../../../core/loader/index.ts'
import { runJob } from '../../../core/minion/job-runner.ts'
import type { JobLoad } from '../../../core/wire/publication.ts'
import { fakeContext } from '../modules/context.ts'

const { log } = fakeContext()
const modules = `
export function* maps() { yield { a: 1 }; yield { b: 2 } }
export async function* steps() { yield 'one'; yield 'two' }
`
let folder: string
let config: { module_dirs: string[] }
let loader: Loader
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-jobs-'))
  await mkdir(join(folder, 'modules'))
  await writeFile(join(folder, 'modules', 'yields.js'), modules)
  config = { module_dirs: [folder] }
  loader = openLoader('modules', { config, log })
})
afterAll(() => rm(folder, { recursive: true }))

const fireMaster = vi.fn(async (_tag: string, _data: unknown) => true)
afterEach(() => fireMaster.mockClear())

const job = (fun: JobLoad['fun'], ...arg: unknown[]): JobLoad => ({
  jid: '20261121000000000001',
  fun,
  arg,
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
  user: 'root',
})

const run = (load: JobLoad, signal = new AbortController().signal, options = {}) =>
  runJob(
    load,
    {
      id: 'm1',
      config: { ...config, ...options },
      grains: { os: 'Debian' },
      pillar: {},
      loader,
      services: { fireMaster } as unknown as MinionServices,
      match: async () => true,
      log,
    },
    signal,
  )
const gist = async (...call: Parameters<typeof run>) => {
  const { return: value, retcode, success, out } = await run(...call)
  return { return: value, retcode, success, ...(out !== undefined && { out }) }
}

test('what a function gives is returned with all that says whose it is', async () => {
  expect(await run(job('test.echo', 'x'))).toEqual({
    cmd: '_return',
    id: 'm1',
    jid: '20261121000000000001',
    fun: 'test.echo',
    fun_args: ['x'],
    return: 'x',
    retcode: 0,
    success: true,
    user: 'root',
  })
})

test('the last map that is marked holds the keyword arguments; the return shows it without the mark', async () => {
  const { return: value, fun_args } = await run(job('test.arg_clean', 1, { __kwarg__: true, a: 2 }))
  expect(value).toEqual({ args: [1], kwargs: { a: 2 } })
  expect(fun_args).toEqual([1, { a: 2 }])
})

test('functions with any keywords see the job as __pub_*', async () => {
  const { return: value } = await run(job('test.kwarg', { __kwarg__: true, a: 1 }))
  expect(value).toMatchObject({
    a: 1,
    __pub_arg: [{ a: 1 }],

    __pub_jid: '20261121000000000001',
    __pub_fun: 'test.kwarg',
    __pub_user: 'root',
  })
})

test('a map that says that it failed has the exit code 1, and a function may set another', async () => {
  expect(await gist(job('test.echo', { result: false }))).toMatchObject({ retcode: 1, success: false })
  expect(await gist(job('test.echo', { success: false }))).toMatchObject({ retcode: 1, success: false })
  expect(await gist(job('test.echo', false))).toMatchObject({ retcode: 0, success: true })
  expect(await gist(job('test.retcode', 42))).toEqual({ return: true, retcode: 42, success: false })
})

const failed = (text: unknown) => ({ return: text, retcode: 1, success: false, out: 'nested' })
const raise = (name: string) => job('test.raise_exception', name, 'why')

test('what goes wrong is told in the words of Salt', async () => {
  expect(await gist(job('no.such'))).toEqual(failed("'no.such' is not available."))
  expect(await gist(raise('SaltInvocationError'))).toEqual(
    failed("ERROR executing 'test.raise_exception': why"),
  )
  expect(await gist(raise('CommandExecutionError'))).toEqual(failed('ERROR: why'))
  expect(await gist(raise('CommandNotFoundError'))).toEqual(
    failed("Command required for 'test.raise_exception' not found: why"),
  )
  expect(await gist(job('test.ping', { __kwarg__: true, a: 1 }))).toEqual(
    failed("ERROR executing 'test.ping': The following keyword arguments are not valid: a=1"),
  )
  expect(await gist(job('test.sleep'))).toEqual(
    failed(
      expect.stringMatching(
        /^Passed invalid arguments to test\.sleep: .*missing 1 required positional argument: 'length'\n\nSleep for/,
      ),
    ),
  )
  expect(fireMaster).not.toHaveBeenCalled()
})

test('any other error comes with its stack, and as an event', async () => {
  expect(await gist(job('test.exception', 'Oh noes!'))).toEqual(
    failed(expect.stringMatching(/^The minion function caused an exception: Error: Oh noes!\n +at /)),
  )
  expect(fireMaster).toHaveBeenCalledWith(
    '_salt_error',
    expect.objectContaining({ args: ['test.exception', 'Oh noes!'] }),
  )
})

test('several functions give a map each, in spite of what one of them does', async () => {
  const several = job(['test.echo', 'no.such', 'test.retcode'], ['x'], [], [3])
  expect(await gist(several)).toEqual({
    return: { 'test.echo': 'x', 'no.such': "'no.such' is not available.", 'test.retcode': true },
    retcode: { 'test.echo': 0, 'no.such': 1, 'test.retcode': 3 },
    success: { 'test.echo': true, 'no.such': false, 'test.retcode': false },
  })
  const ordered = await gist(job(['test.echo', 'test.echo'], ['x'], ['y']), undefined, {
    multifunc_ordered: true,
  })
  expect(ordered.return).toEqual(['x', 'y'])
})

test('a job that is told to end says why, whether it has begun or not, and whatever it gives then', async () => {
  const stop = new AbortController()
  const running = gist(job('test.sleep', 600), stop.signal)
  stop.abort(new SaltError('CANCELLED', 'Job 1 was ended by SIGTERM while it ran.'))
  const ended = failed('ERROR: Job 1 was ended by SIGTERM while it ran.')
  expect(await running).toEqual(ended)
  expect(await gist(job('test.ping'), stop.signal)).toEqual(ended)
})

test('a function that yields tells each value as its progress, and returns all of them', async () => {
  expect((await run(job('yields.steps'))).return).toEqual(['one', 'two'])
  expect(fireMaster.mock.calls).toEqual([
    ['salt/job/20261121000000000001/prog/m1/0', { return: 'one' }],
    ['salt/job/20261121000000000001/prog/m1/1', { return: 'two' }],
  ])
  expect((await run(job('yields.maps'))).return).toEqual({ a: 1, b: 2 })
})
