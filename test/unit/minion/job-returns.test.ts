import { expect, test } from 'vitest'
import type { MinionServices } from '../../../core/author/context.ts'
import { SaltError } from '../../../core/base/errors.ts'
import { openLoader } from '../../../core/loader/index.ts'
import { executeJob } from '../../../core/minion/jobs/job-runner.ts'
import type { JobLoad } from '../../../core/wire/publication.ts'
import { fakeContext } from '../modules/context.ts'

const { log } = fakeContext()
const loader = openLoader('modules', { config: {}, log })

const job = (fun: JobLoad['fun'], ...arg: unknown[]): JobLoad => ({
  jid: '20261121000000000001',
  fun,
  arg,
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
  user: 'root',
})

const run = (load: JobLoad, signal = new AbortController().signal, config = {}) =>
  executeJob(
    load,
    {
      id: 'm1',
      config,
      grains: {},
      pillar: {},
      loader,
      services: {} as MinionServices,
      match: async () => true,
      log,
    },
    signal,
  )

test('the result of a function is returned with all fields that identify it', async () => {
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

test('test.kwarg shows the job as __pub_*', async () => {
  const { return: value } = await run(job('test.kwarg', { __kwarg__: true, a: 1 }))
  expect(value).toMatchObject({
    a: 1,
    __pub_arg: [{ a: 1 }],
    __pub_jid: '20261121000000000001',
    __pub_fun: 'test.kwarg',
    __pub_user: 'root',
  })
})

test('the same function twice gives lists, with multifunc_ordered', async () => {
  const twice = job(['test.echo', 'test.retcode', 'test.echo'], ['x'], [3], ['y'])
  expect(await run(twice, undefined, { multifunc_ordered: true })).toMatchObject({
    return: ['x', true, 'y'],
    retcode: [0, 3, 0],
    success: [true, false, true],
  })
})

test('a job that is ended says why, even if it has not begun', async () => {
  const stop = new AbortController()
  const running = run(job('test.sleep', 600), stop.signal)
  stop.abort(new SaltError('CANCELLED', 'Job 1 was ended by SIGTERM.'))
  const ended = { return: 'ERROR: Job 1 was ended by SIGTERM.', retcode: 1, success: false, out: 'nested' }
  expect(await running).toMatchObject(ended)
  expect(await run(job('test.ping'), stop.signal)).toMatchObject(ended)
})
