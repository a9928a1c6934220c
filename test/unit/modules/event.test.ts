import type { Context } from 'salt-ts'
import { beforeEach, expect, test, vi } from 'vitest'
import * as event from '../../../modules/event.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const minion = { fire: vi.fn(), fireMaster: vi.fn(), request: vi.fn() }
const ask = (fn: AnyFn, given: object, opts: object = {}) =>
  call(
    fn,
    given as Record<string, unknown>,
    fakeContext({
      opts: opts as Context['opts'],
      grains: { os: 'Debian', id: 'm1' },
      pillar: { p: 1 },
      minion: minion as unknown as Context['minion'],
    }),
  )

beforeEach(() => {
  for (const fn of Object.values(minion)) fn.mockReset().mockResolvedValue(true)
})

test('event.send fires on the master bus, with all its arguments as data', async () => {
  const given = { tag: 'a/b', data: { x: 1, foo: 'data wins' }, kwargs: { foo: 'Foo' } }
  expect(await ask(event.send, { ...given, with_grains: ['os', 'none'], with_pillar: true })).toBe(true)
  expect(minion.fireMaster).toHaveBeenCalledWith(
    'a/b',
    { grains: { os: 'Debian' }, pillar: { p: 1 }, foo: 'data wins', x: 1 },
    { pretag: null },
  )
})

test('event.send adds the environment only on request', async () => {
  vi.stubEnv('BUILD_ID', '7')
  await ask(event.send, { tag: 't', with_env: ['BUILD_ID'], with_env_opts: true })
  expect(minion.fireMaster.mock.calls[0]?.[1]).toEqual({
    environ: { BUILD_ID: '7' },
    saltenv: 'base',
    pillarenv: null,
  })
  vi.unstubAllEnvs()
})

test.each([{ local: true }, { file_client: 'local' }, { master_type: 'disable' }])(
  'event.send fires on the own bus with %j',
  async (opts) => {
    await ask(event.send, { tag: 't', data: { a: 1 } }, opts)
    expect(minion.fire).toHaveBeenCalledWith('t', { a: 1 })
    expect(minion.fireMaster).not.toHaveBeenCalled()
    await ask(event.send, { tag: 't' }, { ...opts, use_master_when_local: true })
    expect(minion.fireMaster).toHaveBeenCalledOnce()
  },
)

test('event.fire fires on the own bus', async () => {
  expect(await ask(event.fire, { data: { a: 1 }, tag: 't' })).toBe(true)
  expect(minion.fire).toHaveBeenCalledWith('t', { a: 1 })
})

test('event.fire_master with preload is a request of its own', async () => {
  await ask(event.fire_master, { data: 'd', tag: 't', preload: { grains: 1 } })
  expect(minion.request).toHaveBeenCalledWith({
    id: 'm1',
    tag: 't',
    data: 'd',
    cmd: '_minion_event',
    grains: 1,
  })
})

test('event.fire_master with preload adds to the event, and cannot make another request of it', async () => {
  const preload = { cmd: 'revoke_auth', id: 'm2', tag: 'other', data: 'other', grains: 1 }
  await ask(event.fire_master, { data: 'd', tag: 't', preload })
  const request = { id: 'm1', tag: 't', data: 'd', cmd: '_minion_event', grains: 1 }
  expect(minion.request).toHaveBeenCalledWith(request)
})

test('event.fire_master is refused in local mode', async () => {
  expect(await ask(event.fire_master, { data: {}, tag: 't' }, { local: true })).toBe(false)
})

test('an event that cannot be fired gives false', async () => {
  for (const fn of Object.values(minion)) fn.mockRejectedValue(new Error('gone'))
  expect(await ask(event.fire, { data: {}, tag: 't' })).toBe(false)
  expect(await ask(event.send, { tag: 't' })).toBe(false)
})

test('event.fire returns false for data that is no map', async () => {
  expect(await ask(event.fire, { data: 'text', tag: 'a/b' })).toBe(false)
  expect(minion.fire).not.toHaveBeenCalled()
})
