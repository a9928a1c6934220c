/** The mine of a master: what minions keep there, and which of them get it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { InProcessMaster, type MasterSetup } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster

async function open(options: MasterSetup['options'] = {}): Promise<void> {
  await master?.close()
  master = await InProcessMaster.open({ options })
}
beforeEach(() => open())
afterEach(() => master.close())

type Ask = (load: Record<string, unknown>) => Promise<unknown>

/** A minion that is accepted and has signed in. */
async function minion(id: string, grains: Record<string, unknown> = {}): Promise<Ask> {
  const peer = await Peer.named(id)
  await master.file(id, peer.key.publicKey)
  await peer.signIn((frame) => master.answer(frame))
  await master.context.minions.save(id, { grains: { id, ...grains } })
  return async (load) => {
    const sealed = peer.seal({ id, ...load })
    return sealed.open(await master.answer(sealed.frame))
  }
}

const put = (ask: Ask | undefined, data: unknown, more = {}) => ask?.({ cmd: '_mine', data, ...more })
const get = (ask: Ask | undefined, tgt: unknown, fun: unknown, tgt_type?: string) =>
  ask?.({ cmd: '_mine_get', tgt, fun, ...(tgt_type && { tgt_type }) })

describe('the mine', () => {
  test('gives minions the values of other minions: of one function by id, of several by function', async () => {
    const [web1, web2] = [await minion('web1', { os: 'Debian' }), await minion('web2', { os: 'Arch' })]
    expect(await put(web1, { 'test.ping': true, addresses: ['10.0.0.1'] })).toBe(true)
    expect(await put(web2, { 'test.ping': true })).toBe(true)
    expect(await get(web2, '*', 'test.ping')).toEqual({ web1: true, web2: true })
    expect(await get(web2, '*', 'test.ping,addresses')).toEqual({
      'test.ping': { web1: true, web2: true },
      addresses: { web1: ['10.0.0.1'] },
    })
    expect(await get(web2, '*', ['addresses'])).toEqual({ addresses: { web1: ['10.0.0.1'] } })
    expect(await get(web2, 'os:Debian', 'test.ping', 'grain')).toEqual({ web1: true })
    expect(await get(web2, 'G@os:Arch or L@web1', 'test.ping', 'compound')).toEqual({
      web1: true,
      web2: true,
    })
    expect(await get(web2, 'web9', 'test.ping')).toEqual({})
    expect(await get(web2, '*', 'nothing')).toEqual({})
  })

  test('looks up no more functions at once than anybody needs: each is looked up for each minion', async () => {
    const web1 = await minion('web1')
    await put(web1, { a: 1 })
    const names = ['a', ...Array.from({ length: 1_000 }, (_, n) => `f${n}`)]
    for (const fun of [names, names.join(',')]) expect(await get(web1, '*', fun)).toEqual({})
    expect(await get(web1, '*', names.slice(1).fill('a'))).toEqual({ a: { web1: 1 } })
  })

  test('updates values by name, or replaces all; deletes one, or all', async () => {
    const web1 = await minion('web1')
    await put(web1, { a: 1, b: 2 })
    await put(web1, { b: 3 })
    expect(master.context.mine.names('web1')).toEqual(['a', 'b'])
    expect(await get(web1, '*', 'b')).toEqual({ web1: 3 })
    await put(web1, { c: 4 }, { clear: true })
    expect(master.context.mine.names('web1')).toEqual(['c'])
    await put(web1, { d: 5 })
    expect(await web1({ cmd: '_mine_delete', fun: 'c' })).toBe(true)
    expect(await web1({ cmd: '_mine_delete', fun: 'c' })).toBe(true)
    expect(master.context.mine.names('web1')).toEqual(['d'])
    expect(await web1({ cmd: '_mine_flush' })).toBe(true)
    expect(master.context.mine.names('web1')).toEqual([])
  })

  test('keeps a value from minions that allow_tgt does not match', async () => {
    const [web1, web2] = [await minion('web1'), await minion('web2', { role: 'web' })]
    const limited = (allow_tgt: unknown, allow_tgt_type?: string) => ({
      __saltmine_acl__: 1,
      __data__: 'secret',
      allow_tgt,
      ...(allow_tgt_type && { allow_tgt_type }),
    })
    await put(web1, {
      own: limited('web1'),
      web: limited('role:web', 'grain'),
      nobody: limited('db*'),
      all: { __saltmine_acl__: 1, __data__: 'open' },
    })
    expect(await get(web2, '*', 'own,web,nobody,all')).toEqual({
      web: { web1: 'secret' },
      all: { web1: 'open' },
    })
    expect(await get(web1, '*', 'own,web,nobody,all')).toEqual({
      own: { web1: 'secret' },
      all: { web1: 'open' },
    })
  })

  test('is limited by mine_get, in which expressions match whole ids and names', async () => {
    await open({ mine_get: { 'web.*': ['test.*', 'addresses'] } })
    const [web1, db1] = [await minion('web1'), await minion('db1')]
    await put(web1, { 'test.ping': true, addresses: 1, addresses6: 2 })
    expect(await get(web1, '*', 'test.ping,addresses,addresses6')).toEqual({
      'test.ping': { web1: true },
      addresses: { web1: 1 },
    })
    expect(await get(db1, '*', 'test.ping')).toEqual({})
    await open({ mine_get: {} })
    const again = await minion('web1')
    await put(again, { a: 1 })
    expect(await get(again, '*', 'a')).toEqual({})
  })

  test('has no values of a minion whose key was deleted, nor for the next minion with its id', async () => {
    const [web1, web2] = [await minion('web1'), await minion('web2')]
    await put(web1, { a: 1 })
    await master.context.keys.remove(['web1'])
    expect(await get(web2, '*', 'a')).toEqual({})
    await put(web2, { a: 2 })
    expect(await web2({ cmd: 'revoke_auth' })).toBe(true)
    expect(master.context.mine.names('web2')).toEqual([])
  })

  test('processes no request twice: a replayed one does not bring an old value back', async () => {
    const peer = await Peer.named('web1')
    await master.file('web1', peer.key.publicKey)
    await peer.signIn((frame) => master.answer(frame))
    const old = peer.seal({ cmd: '_mine', id: 'web1', data: { a: 'old' } })
    await master.answer(old.frame)
    await master.answer(peer.seal({ cmd: '_mine', id: 'web1', data: { a: 'new' } }).frame)
    await master.answer(old.frame)
    expect(master.context.mine.get('web1', 'a')?.value).toBe('new')
  })

  test.each([
    ['text', 'x'],
    ['a list', [1]],
    ['a name that is too long', { ['n'.repeat(256)]: 1 }],
    ['an empty name', { '': 1 }],
  ])('refuses %s, and logs it', async (_, data) => {
    const web1 = await minion('web1')
    expect(await put(web1, data)).toBe(false)
    expect(master.context.mine.names('web1')).toEqual([])
  })

  test.each([
    ['pillar values by patterns', 'role:*', 'pillar'],
    ['an unknown target type', 'x', 'nonsense'],
    ['a compound target that is broken', 'G@os:Debian and (', 'compound'],
  ])('returns nothing for %s', async (_, tgt, tgt_type) => {
    const web1 = await minion('web1')
    await put(web1, { a: 1 })
    expect(await get(web1, tgt, 'a', tgt_type)).toEqual({})
  })
})
