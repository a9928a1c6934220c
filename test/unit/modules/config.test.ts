import { expect, test } from 'vitest'
import * as config from '../../../modules/config.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const context = fakeContext({
  opts: {
    a: 'opts',
    deep: { x: 1, list: [1] },
    'mysql.host': 'h',
    'mysql.pass': 's3cret',
    users: { joe: { password: 's3cret', uid: 5 }, tokens: ['s3cret'] },
    empty: null,
    rotate_aes_key: true,
    grains: { only: 'configured' },
  },
  grains: { a: 'grains', b: 'grains', deep: { x: 2, y: 2 } },
  pillar: { a: 'pillar', c: 'pillar', deep: { z: 3, list: [2] }, master: { d: 'master', 'mysql.port': 1 } },
})
const ask = (fn: AnyFn, given: object = {}) => call(fn, given as Record<string, unknown>, context)

test('config.get looks in opts, grains, pillar and master, in this order', async () => {
  const keys = ['a', 'b', 'c', 'd', 'deep:y', 'none']
  expect(await Promise.all(keys.map((key) => ask(config.get, { key })))).toEqual([
    'opts',
    'grains',
    'pillar',
    'master',
    2,
    '',
  ])
  expect(await ask(config.get, { key: 'a', omit_opts: true, omit_grains: true })).toBe('pillar')
  expect(await ask(config.get, { key: 'empty', default: 1 })).toBeNull()
  expect(await ask(config.get, { key: 'none', default: 1 })).toBe(1)
  expect(await ask(config.get, { key: 'test.foo' })).toBe('unconfigured')
  expect(await ask(config.get, { key: 'grains:b' })).toBe('grains')
  expect(await ask(config.get, { key: 'pillar:deep:z' })).toBe(3)
})

test('config.get merges on request', async () => {
  expect(await ask(config.get, { key: 'deep', merge: 'recurse' })).toEqual({ x: 1, y: 2, z: 3, list: [1] })
  expect(await ask(config.get, { key: 'deep', merge: 'overwrite' })).toEqual({ x: 1, list: [1] })
})

test('config.option does not split keys, and accepts globs', async () => {
  expect(await ask(config.option, { value: 'mysql.host' })).toBe('h')
  expect(await ask(config.option, { value: 'deep:x' })).toBe('')
  expect(await ask(config.option, { value: 'a', omit_all: true, default: 1 })).toBe(1)
  expect(await ask(config.option, { value: '[ab]', wildcard: true })).toEqual({ a: 'opts', b: 'grains' })
  expect(await ask(config.option, { value: 'zz*', wildcard: true })).toEqual({})
})

test('config.get and config.option have the defaults of the options of modules', async () => {
  expect(await ask(config.option, { value: 'mongo.pass*', wildcard: true })).toEqual({ 'mongo.password': '' })
  expect(await ask(config.option, { value: 'solr.cores' })).toEqual([])
  expect(await ask(config.get, { key: 'virt:images' })).toBe('/srv/salt-images')
})

test('config.merge joins maps and lists; of texts the first one counts', async () => {
  expect(await ask(config.merge, { value: 'deep' })).toEqual({ x: 1, z: 3, list: [1] })
  expect(await ask(config.merge, { value: 'a' })).toBe('opts')
  expect(await ask(config.merge, { value: 'none', default: 2 })).toBe(2)
})

test('config.dot_vals returns keys with a prefix', async () => {
  expect(await ask(config.dot_vals, { value: 'mysql' })).toEqual({
    'mysql.host': 'h',
    'mysql.pass': 's3cret',
    'mysql.port': 1,
  })
})

test('config.items masks secrets at any depth', async () => {
  const items = await ask(config.items)
  expect(items).toMatchObject({ 'mysql.host': 'h', rotate_aes_key: true, users: { joe: { uid: 5 } } })
  expect(JSON.stringify(items)).not.toContain('s3cret')
})

test('config.backup_mode, manage_mode and valid_fileproto return their values', async () => {
  expect(await ask(config.backup_mode, { backup: 'minion' })).toBe('minion')
  expect(await ask(config.backup_mode)).toBe('')
  expect(
    await Promise.all(['644', 755, '0o600', '"00644"'].map((mode) => ask(config.manage_mode, { mode }))),
  ).toEqual(['0644', '0755', '0600', '0644'])
  expect(await ask(config.valid_fileproto, { uri: 'salt://a' })).toBe(true)
  expect(await ask(config.valid_fileproto, { uri: 'gopher://a' })).toBe(false)
})
