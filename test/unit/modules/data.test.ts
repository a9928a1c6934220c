import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Datastore } from '../../../core/minion/datastore.ts'
import * as data from '../../../modules/data.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let folder: string
let store: Datastore
beforeEach(async () => {
  folder = await temporaryFolder('salt-data-')
  store = new Datastore(folder)
})
afterEach(() => removeFolder(folder))

const run = (fn: AnyFn, given: Record<string, unknown> = {}) => {
  const minion = {
    readData: async () => store.read(),
    dataKeys: async () => store.keys(),
    changeData: store.change.bind(store),
  }
  return call(fn, given, fakeContext({ minion: minion as never }))
}

test('the folder of the values is made for the first value', async () => {
  store = new Datastore(join(folder, 'var', 'cache'))
  expect(await run(data.update, { key: 'role', value: 'web' })).toBe(true)
  expect(store.read()).toEqual({ role: 'web' })
})

test('values are stored, read, changed and removed', async () => {
  expect(await run(data.load)).toEqual({})
  expect(await run(data.update, { key: 'role', value: 'web' })).toBe(true)
  expect(await run(data.update, { key: 'rack', value: { row: 7 } })).toBe(true)
  expect(await run(data.items)).toEqual({ role: 'web', rack: { row: 7 } })
  expect([await run(data.keys), await run(data.values)]).toEqual([
    ['role', 'rack'],
    ['web', { row: 7 }],
  ])
  expect([await run(data.has_key, { key: 'role' }), await run(data.has_key, { key: 'x' })]).toEqual([
    true,
    false,
  ])
  expect(await run(data.get, { key: 'role' })).toBe('web')
  expect(await run(data.get, { key: ['role', 'x'] })).toEqual(['web'])
  expect(await run(data.get, { key: ['role', 'x'], default: 0 })).toEqual(['web', 0])
  expect(await run(data.cas, { key: 'rack', value: 8, old_value: { row: 6 } })).toBe(false)
  expect(await run(data.cas, { key: 'rack', value: 8, old_value: { row: 7 } })).toBe(true)
  expect([
    await run(data.pop, { key: 'rack' }),
    await run(data.pop, { key: 'rack', default: 'gone' }),
  ]).toEqual([8, 'gone'])
  expect(await run(data.dump, { new_data: { a: 1 } })).toBe(true)
  expect(new Datastore(folder).read()).toEqual({ a: 1 })
  await expect(run(data.dump, { new_data: 'x' })).rejects.toThrow('must be a map')
  expect(await run(data.clear)).toBe(true)
  expect(store.read()).toEqual({})
})

test('names that are numbers stay numbers, in the order in which they came', async () => {
  await run(data.dump, { new_data: { b: 1, 3: 'c' } })
  for (const [key, value] of [
    [10, 'x'],
    ['a', 'y'],
    [2, 'z'],
    ['10', 'w'],
  ])
    await run(data.update, { key, value })
  expect(await run(data.keys)).toEqual(['3', 'b', 10, 'a', 2])
  expect(await run(data.values)).toEqual(['c', 1, 'w', 'y', 'z'])
  expect(await run(data.has_key, { key: 2 })).toBe(true)
  expect(await run(data.get, { key: 2 })).toBe('z')
  expect(await run(data.cas, { key: 2, value: 'v', old_value: 'z' })).toBe(true)
  expect(await run(data.pop, { key: '2' })).toBe('v')
  expect(await run(data.keys)).toEqual(['3', 'b', 10, 'a'])
  expect(await run(data.items)).toEqual({ 3: 'c', b: 1, 10: 'w', a: 'y' })
})

test('a file of Python Salt with numbers as names is read', async () => {
  await writeFile(join(folder, 'datastore'), Buffer.from([0x82, 0xa1, 0x61, 0x01, 0x0a, 0x02])) // {a: 1, 10: 2}
  expect(await run(data.keys)).toEqual(['a', 10])
  expect(await run(data.items)).toEqual({ a: 1, 10: 2 })
  expect(await run(data.get, { key: ['10', 'a'] })).toEqual([2, 1])
})

test('of several concurrent cas calls, one succeeds', async () => {
  await run(data.update, { key: 'n', value: 0 })
  const all = [1, 2, 3, 4].map((value) => run(data.cas, { key: 'n', value, old_value: 0 }))
  expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1)
})

test('a file that cannot be read is not overwritten', async () => {
  await writeFile(join(folder, 'datastore'), 'no map')
  await expect(run(data.update, { key: 'a', value: 1 })).rejects.toThrow('cannot be read')
})
