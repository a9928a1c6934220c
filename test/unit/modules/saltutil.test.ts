import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Context, isFn, type Job } from 'salt-ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { syncTypesOf } from '../../../core/fileserver/sync/types.ts'
import * as saltutil from '../../../modules/saltutil.ts'
import * as saltutilRunner from '../../../runners/saltutil.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const job = (jid: string, fun: string): Job => ({
  jid,
  fun,
  arg: [],
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
  pid: 7,
})
const jobs = [job('1', 'cmd.run'), job('2', 'state.apply'), job('3', 'saltutil.running')]
const minion = {
  running: vi.fn(),
  signalJob: vi.fn(),
  findCachedJob: vi.fn(),
  refreshModules: vi.fn(),
  refreshGrains: vi.fn(),
  clearJobCache: vi.fn(),
  request: vi.fn(),
  fire: vi.fn(),
  sync: vi.fn(),
}
let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-saltutil-')
  for (const fn of Object.values(minion)) fn.mockReset().mockResolvedValue(true)
  minion.running.mockResolvedValue(jobs)
  minion.signalJob.mockImplementation(async (jid, signal) => `Signal ${signal} sent to job ${jid} at pid 7`)
})
afterEach(() => removeFolder(folder))

const ask = (fn: AnyFn, given: object = {}) =>
  call(
    fn,
    given as Record<string, unknown>,
    fakeContext({
      opts: { pki_dir: folder, extension_modules: folder, cachedir: folder },
      job: jobs[2]!,
      minion: minion as unknown as Context['minion'],
    }),
  )

test('running and is_running leave out the job that calls them', async () => {
  expect(await ask(saltutil.running)).toEqual(jobs.slice(0, 2))
  expect(await ask(saltutil.is_running, { fun: 'state.*' })).toEqual([jobs[1]])
  expect(await ask(saltutil.is_running, { fun: 'saltutil.*' })).toEqual([])
})

test('find_job returns the job, or an empty map', async () => {
  expect(await ask(saltutil.find_job, { jid: '2' })).toEqual(jobs[1])
  expect(await ask(saltutil.find_job, { jid: '9' })).toEqual({})
})

test('find_cached_job returns the return, or a sentence if there is none', async () => {
  minion.findCachedJob.mockResolvedValue(undefined)
  expect(await ask(saltutil.find_cached_job, { jid: '9' })).toMatch('Local jobs cache directory not found')
  minion.findCachedJob.mockResolvedValue({ jid: '9', return: true })
  expect(await ask(saltutil.find_cached_job, { jid: '9' })).toEqual({ jid: '9', return: true })
})

test('signal_job accepts numbers and names', async () => {
  const sent = 'Signal 15 sent to job 1 at pid 7'
  for (const sig of [15, '15', 'TERM', 'sigterm'])
    expect(await ask(saltutil.signal_job, { jid: '1', sig })).toBe(sent)
  await expect(ask(saltutil.signal_job, { jid: '1', sig: 'constructor' })).rejects.toThrow(
    'There is no signal',
  )
})

test('term and kill send their signals, to one or to all other jobs', async () => {
  expect(await ask(saltutil.term_job, { jid: '1' })).toContain('Signal 15')
  expect(await ask(saltutil.kill_job, { jid: '1' })).toContain('Signal 9')
  expect(await ask(saltutil.term_all_jobs)).toEqual([
    'Signal 15 sent to job 1 at pid 7',
    'Signal 15 sent to job 2 at pid 7',
  ])
  expect(await ask(saltutil.kill_all_jobs)).toHaveLength(2)
})

test('refreshes are requested from the minion', async () => {
  await ask(saltutil.refresh_modules)
  await ask(saltutil.refresh_grains)
  await ask(saltutil.refresh_matchers)
  expect(minion.refreshModules).toHaveBeenCalledOnce()
  expect(minion.refreshGrains).toHaveBeenCalledOnce()
  await ask(saltutil.refresh_beacons)
  expect(minion.fire.mock.calls).toEqual([
    ['matchers_refresh', {}],
    ['beacons_refresh', {}],
  ])
  await ask(saltutil.refresh_pillar)
  await ask(saltutil.pillar_refresh)
  expect(minion.refreshGrains).toHaveBeenCalledTimes(3)
})

test('without a running minion, grains are refreshed by the next job, and the pillar is not', async () => {
  minion.refreshGrains.mockResolvedValue(false)
  expect(await ask(saltutil.refresh_grains)).toBe(true)
  expect(await ask(saltutil.refresh_pillar)).toBe(false)
})

test('clear_cache removes fetched files, and no other files of the minion', async () => {
  for (const name of ['files/base', 'localfiles', 'extrn_files', 'spool'])
    await mkdir(join(folder, name), { recursive: true })
  await ask(saltutil.clear_cache)
  expect(await readdir(folder)).toEqual(['spool'])
})

test('caches are cleared by age', async () => {
  await ask(saltutil.clear_job_cache, { hours: 12 })
  await ask(saltutil.clear_cache)
  expect(minion.clearJobCache.mock.calls).toEqual([[12], [0]])
})

test('regen_keys removes only the keys of this minion', async () => {
  for (const name of ['minion.pem', 'minion.pub', 'minion_master.pub'])
    await writeFile(join(folder, name), '')
  expect(await ask(saltutil.regen_keys)).toBe(true)
  expect(await readdir(folder)).toEqual(['minion_master.pub'])
})

test('revoke_auth sends the request to the master, and returns false if it fails', async () => {
  expect(await ask(saltutil.revoke_auth)).toBe(true)
  expect(minion.request).toHaveBeenCalledWith({ cmd: 'revoke_auth', id: 'm1', preserve_minion_cache: false })
  minion.request.mockRejectedValue(new Error('no answer'))
  expect(await ask(saltutil.revoke_auth)).toBe(false)
})

test('list_extmods lists synced extensions', async () => {
  await mkdir(join(folder, 'modules'))
  for (const name of ['b.ts', 'a.py', '_helper.ts']) await writeFile(join(folder, 'modules', name), '')
  expect(await ask(saltutil.list_extmods)).toEqual({ modules: ['a', 'b'] })
})

const changes = {
  added: ['modules.hello'],
  changed: [],
  removed: ['modules.old'],
  failed: {},
  lines: ['modules.hello', 'modules.old (removed)'],
}

test('every sync function syncs its type, and returns the list', async () => {
  const sync = Object.entries(saltutil).filter(([name, value]) => name.startsWith('sync_') && isFn(value))
  minion.sync.mockImplementation(async ({ types = ['modules'] }) => ({ [types[0]]: changes }))
  for (const [name, fn] of sync)
    if (name !== 'sync_all') expect(await ask(fn as AnyFn)).toEqual(changes.lines)
  const types = sync.map(([name]) => name.slice('sync_'.length)).filter((name) => name !== 'all')
  const renamed = new Map([
    ['outputters', 'output'],
    ['pillars', 'pillar'],
  ])
  expect(minion.sync.mock.calls.map(([{ types }]) => types)).toEqual(
    types.map((type) => [renamed.get(type) ?? type]),
  )
})

test('every type that concerns a minion has a sync function of its name, and so has every type of a master', () => {
  const named = (functions: object) => (name: string) => Object.hasOwn(functions, `sync_${name}`)
  expect(syncTypesOf('minion').filter(({ name }) => !named(saltutil)(name))).toEqual([])
  expect(syncTypesOf('master').filter(({ name }) => !named(saltutilRunner)(name))).toEqual([])
})

test('sync_all returns a list for each type, or all details on request', async () => {
  minion.sync.mockResolvedValue({ modules: changes })
  const { lines, ...details } = changes
  expect(
    await ask(saltutil.sync_all, { saltenv: 'base,dev', extmod_whitelist: { modules: ['hello'] } }),
  ).toEqual({
    modules: lines,
  })
  expect(minion.sync).toHaveBeenCalledWith({
    saltenv: 'base,dev',
    refresh: true,
    whitelist: { modules: ['hello'] },
    blacklist: undefined,
  })
  expect(await ask(saltutil.sync_all, { details: true })).toEqual({ modules: details })
})

test('a sync fails if an existing extension cannot be loaded', async () => {
  const failed = { 'modules.bad': '/x/bad.ts:3: SyntaxError: Unexpected "="' }
  minion.sync.mockResolvedValue({ modules: { ...changes, failed } })
  const context = fakeContext({ minion: minion as unknown as Context['minion'] })
  await call(saltutil.sync_modules, {}, context)
  expect(context.retcode).toBe(1)
})

test('functions that Salt runs with the files of a master are refused, with an alternative', async () => {
  for (const [fn, given, instead] of [
    [saltutil.cmd, { tgt: '*', fun: 'test.ping' }, 'publish.publish'],
    [saltutil.cmd_iter, { tgt: '*', fun: 'test.ping' }, 'publish.publish'],
    [saltutil.runner, { name: 'manage.up' }, 'publish.runner'],
    [saltutil.wheel, { name: 'key.list_all' }, 'salt-key'],
  ] as [AnyFn, Record<string, unknown>, string][])
    await expect((async () => call(fn, given))()).rejects.toThrow(instead)
})

test('mmodule calls a function of this minion', async () => {
  const asked: unknown[] = []
  const within = fakeContext({
    call: (async (...call: unknown[]) => void asked.push(call)) as Context['call'],
  })
  await call(saltutil.mmodule, { saltenv: 'base', fun: 'test.echo', args: ['hi'] }, within)
  expect(asked).toEqual([['test.echo', ['hi'], {}]])
})

test('a refresh returns false without a running minion', async () => {
  const fire = async () => {
    throw new Error('no bus')
  }
  const within = fakeContext({ minion: { fire } as unknown as Context['minion'] })
  expect(await call(saltutil.refresh_matchers, {}, within)).toBe(false)
})

test('sync_all of a minion without a master syncs pillars, too', async () => {
  minion.sync.mockImplementation(async ({ types = ['modules'] }) => ({ [types[0]]: changes }))
  const within = fakeContext({
    minion: minion as unknown as Context['minion'],
    opts: { file_client: 'local' },
  })
  expect(await call(saltutil.sync_all, {}, within)).toEqual({ modules: changes.lines, pillar: changes.lines })
})
