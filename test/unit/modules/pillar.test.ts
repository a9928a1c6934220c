import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as pillar from '../../../modules/pillar.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const known = { role: ['web', 'db'], web: { sites: { a: 1, b: 'x' }, list: [1, 2] }, n: null, f: 1.5 }
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, opts: Record<string, unknown> = {}) =>
  call(fn, given, fakeContext({ pillar: known, opts }))

test('pillar.get returns a nested value, or a default', async () => {
  expect(await ask(pillar.get, { key: 'web:sites:b' })).toBe('x')
  expect(await ask(pillar.get, { key: 'web|list|1', delimiter: '|' })).toBe(2)
  expect(await ask(pillar.get, { key: 'n' })).toBeNull()
  expect(await ask(pillar.get, { key: 'none' })).toBe('')
  expect(await ask(pillar.fetch, { key: 'none', default: 5 })).toBe(5)
})

test('pillar.get merges a map or a list into the default', async () => {
  const given = { key: 'web:sites', default: { a: 0, c: 3 }, merge: true }
  expect(await ask(pillar.get, given)).toEqual({ a: 1, b: 'x', c: 3 })
  expect(await ask(pillar.get, { key: 'role', default: ['db', 'app'], merge: true })).toEqual([
    'db',
    'app',
    'web',
  ])
  expect(await ask(pillar.get, { key: 'none', default: { c: 3 }, merge: true })).toEqual({ c: 3 })
  expect(await ask(pillar.get, { key: 'f', default: { c: 3 }, merge: true })).toBe(1.5)
})

test('pillar.get fails for a missing key if pillar_raise_on_missing is set, and there is no default', async () => {
  const opts = { pillar_raise_on_missing: true }
  await expect(ask(pillar.get, { key: 'none' }, opts)).rejects.toThrow('Pillar key not found: none')
  expect(await ask(pillar.get, { key: 'none', default: 'x' }, opts)).toBe('x')
})

test('the pillar of another environment is refused, unless there is no master and no such environment', async () => {
  for (const fn of [pillar.get, pillar.items, pillar.item, pillar.obfuscate] as AnyFn[]) {
    await expect(ask(fn, { key: 'a', pillarenv: 'dev' })).rejects.toThrow('environment dev cannot be read')
    await expect(ask(fn, { key: 'a', saltenv: 'dev' }, { pillarenv_from_saltenv: true })).rejects.toThrow()
  }
  const alone = fakeContext({ opts: { file_client: 'local' } })
  expect(await call(pillar.items, { pillarenv: 'dev' }, alone)).toEqual({})
  expect(await call(pillar.get, { key: 'f', pillarenv: 'dev', default: 1 }, alone)).toBe(1)
})

test('the environment of states does not change the pillar, nor does its own environment', async () => {
  expect(await ask(pillar.get, { key: 'f', saltenv: 'dev' })).toBe(1.5)
  expect(await ask(pillar.items, { pillarenv: 'dev' }, { pillarenv: 'dev' })).toEqual(known)
})

test('items merges a map over the pillar, and ignores other keywords', async () => {
  const given = { pillar: { web: { sites: { a: 2 } } }, kwargs: { nosuch: 1 } }
  expect(await ask(pillar.items, given)).toMatchObject({ web: { sites: { a: 2, b: 'x' } }, f: 1.5 })
  expect(await ask(pillar.obfuscate, { pillar: { new: 'x' } })).toMatchObject({ new: '<str>' })
})

test('file_exists looks into the folders of pillar_roots', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => removeFolder(folder))
  await writeFile(join(folder, 'top.sls'), '')
  const opts = { pillar_roots: { base: ['/nowhere', folder], dev: [] } }
  expect(await ask(pillar.file_exists, { path: 'top.sls' }, opts)).toBe(true)
  expect(await ask(pillar.file_exists, { path: 'top.sls', saltenv: 'base' }, opts)).toBe(true)
  for (const saltenv of ['dev', 'nosuch'])
    expect(await ask(pillar.file_exists, { path: 'top.sls', saltenv }, opts)).toBe(false)
  expect(await ask(pillar.file_exists, { path: '.' }, opts)).toBe(false)
  const deeper = { pillar_roots: { base: [join(folder, 'sub')] } }
  for (const path of ['../top.sls', 'a/../../top.sls', join(folder, 'top.sls')])
    expect(await ask(pillar.file_exists, { path }, deeper)).toBe(false)
  expect(await ask(pillar.file_exists, { path: './a/../top.sls' }, opts)).toBe(true)
  await expect(ask(pillar.file_exists, { path: 'top.sls' }, { pillar_roots: {} })).rejects.toThrow(
    'No pillar_roots found',
  )
})

test('items, item, ls, raw and keys return parts of the pillar', async () => {
  expect(await ask(pillar.items)).toEqual(known)
  expect(await ask(pillar.data, { args: ['f', 'none'] })).toEqual({ f: 1.5, none: '' })
  expect(await ask(pillar.item, { args: ['f', 'none'], default: 0 })).toEqual({ f: 1.5, none: 0 })
  expect(await ask(pillar.ls)).toEqual(['role', 'web', 'n', 'f'])
  expect(await ask(pillar.ls, { args: ['f'] })).toEqual(['f'])
  expect(await ask(pillar.raw)).toEqual(known)
  expect(await ask(pillar.raw, { key: 'f' })).toBe(1.5)
  expect(await ask(pillar.raw, { key: 'none' })).toEqual({})
  expect(await ask(pillar.keys, { key: 'web:sites' })).toEqual(['a', 'b'])
  await expect(ask(pillar.keys, { key: 'none' })).rejects.toThrow('Pillar key not found: none')
  await expect(ask(pillar.keys, { key: 'f' })).rejects.toThrow('Pillar value in key f is not a dict')
})

test('obfuscate shows the types that Python has for the values', async () => {
  expect(await ask(pillar.obfuscate)).toEqual({
    role: ['<str>', '<str>'],
    web: { sites: { a: '<int>', b: '<str>' }, list: ['<int>', '<int>'] },
    n: '<NoneType>',
    f: '<float>',
  })
})

test('filter_by picks the value whose glob matches a key of the pillar', async () => {
  const lookup_dict = { 'w*': { a: 1 }, default: { b: 1 } }
  expect(await ask(pillar.filter_by, { lookup_dict, pillar: 'role', merge: { c: 2 } })).toEqual({
    a: 1,
    c: 2,
  })
  expect(await ask(pillar.filter_by, { lookup_dict, pillar: 'none' })).toEqual({ b: 1 })
})
