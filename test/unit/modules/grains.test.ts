import { spawnSync } from 'node:child_process'
import { chmod, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandExecutionError, type Context } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { bornAt } from '../../../modules/_lock/born-at.ts'
import * as grains from '../../../modules/grains.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const known = {
  os: 'Debian',
  os_family: 'Debian',
  roles: ['web', 'db'],
  apps: { one: { port: 80 }, list: [{ a: 1 }, 'b'] },
  empty: null,
  serialnumber: '12345678',
  id: 'm1.example.com',
}
let folder: string
let file: string
let refreshes: number

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-grains-')
  file = join(folder, 'grains')
  refreshes = 0
})
afterEach(() => removeFolder(folder))

function context(overrides: Partial<Context> = {}) {
  const minion = { refreshGrains: async () => ++refreshes > 0 } as Context['minion']
  return fakeContext({ grains: known, opts: { config_dir: folder }, minion, ...overrides })
}
const ask = (fn: AnyFn, given: object) => call(fn, given as Record<string, unknown>, context())
const kept = async () => parse(await readFile(file, 'utf8'), { version: '1.1' })

describe('Reading', () => {
  test('get reads nested maps and lists, and has a default', async () => {
    expect(await ask(grains.get, { key: 'apps:one:port' })).toBe(80)
    expect(await ask(grains.get, { key: 'roles:1' })).toBe('db')
    expect(await ask(grains.get, { key: 'roles:-1' })).toBe('db')
    expect(await ask(grains.get, { key: 'apps:list:a' })).toBe(1)
    expect(await ask(grains.get, { key: 'apps|one|port', delimiter: '|' })).toBe(80)
    expect(await ask(grains.get, { key: 'none:such' })).toBe('')
    expect(await ask(grains.fetch, { key: 'none', default: 5 })).toBe(5)
    expect(await ask(grains.get, { key: 'constructor:name' })).toBe('')
  })

  test('has_value checks that a value exists, not that it is true', async () => {
    expect(await ask(grains.has_value, { key: 'empty' })).toBe(true)
    expect(await ask(grains.has_value, { key: 'apps:two' })).toBe(false)
  })

  test('items and item return grains, sanitized on request', async () => {
    expect(await ask(grains.items, {})).toEqual(known)
    expect(await ask(grains.items, { sanitize: true })).toMatchObject({
      serialnumber: '123456XX',
      id: 'MINION.DOMAINNAME',
    })
    expect(await ask(grains.item, { args: ['os', 'apps:one', 'none'] })).toEqual({
      os: 'Debian',
      'apps:one': { port: 80 },
      none: '',
    })
  })

  test('ls returns the sorted names', async () => {
    expect(await ask(grains.ls, {})).toEqual(Object.keys(known).sort())
  })

  test('equals compares values, and texts', async () => {
    expect(await ask(grains.equals, { key: 'os', value: 'Debian' })).toBe(true)
    expect(await ask(grains.equals, { key: 'apps:one:port', value: '80' })).toBe(true)
    expect(await ask(grains.equals, { key: 'roles', value: ['web', 'db'] })).toBe(true)
    expect(await ask(grains.equals, { key: 'os', value: 'debian' })).toBe(false)
  })

  test('filter_by picks by glob, with default, base and merge', async () => {
    const lookup_dict = {
      'Deb*': { pkg: 'apache2' },
      RedHat: { pkg: 'httpd' },
      default: { pkg: 'x', log: '/l' },
    }
    expect(await ask(grains.filter_by, { lookup_dict })).toEqual({ pkg: 'apache2' })
    expect(await ask(grains.filter_by, { lookup_dict, base: 'default' })).toEqual({
      pkg: 'apache2',
      log: '/l',
    })
    expect(await ask(grains.filter_by, { lookup_dict, merge: { pkg: 'mine' } })).toEqual({ pkg: 'mine' })
    expect(await ask(grains.filter_by, { lookup_dict, grain: 'none' })).toEqual({ pkg: 'x', log: '/l' })
    expect(await ask(grains.filter_by, { lookup_dict: {}, grain: 'none' })).toBeNull()
    await expect(ask(grains.filter_by, { lookup_dict, merge: 'x' })).rejects.toThrow('must be a dictionary')
  })
})

describe('Writing', () => {
  test('setval keeps a grain in the file and refreshes before it answers', async () => {
    expect(await ask(grains.setval, { key: 'site', val: 'yes' })).toEqual({ site: 'yes' })
    expect(await kept()).toEqual({ site: 'yes' })
    expect(await readFile(file, 'utf8')).toBe('site: "yes"\n')
    expect(refreshes).toBe(1)
  })

  test('comments, order and mode of the file are kept', async () => {
    await writeFile(file, '# ours\nb: 1 # one\na: 2\n')
    await chmod(file, 0o600)
    await ask(grains.setvals, { grains: { a: [1, { x: null }], c: 3 } })
    expect(await readFile(file, 'utf8')).toBe('# ours\nb: 1 # one\na:\n  - 1\n  - x: null\nc: 3\n')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['grains'])
  })

  test('destructive removes null values', async () => {
    await writeFile(file, 'a: 1\nb: 2\n')
    await ask(grains.setvals, { grains: { a: null, b: null }, destructive: false })
    expect(await kept()).toEqual({ a: null, b: null })
    await ask(grains.setval, { key: 'a', val: null, destructive: true })
    expect(await kept()).toEqual({ b: null })
  })

  test('append and remove edit a list', async () => {
    expect(await ask(grains.append, { key: 'roles', val: 'mail' })).toEqual({ roles: ['web', 'db', 'mail'] })
    expect(await ask(grains.append, { key: 'roles', val: 'web' })).toBe(
      'The val web was already in the list roles',
    )
    expect(await ask(grains.append, { key: 'os', val: 'x' })).toBe('The key os is not a valid list')
    expect(await ask(grains.append, { key: 'os', val: 'x', convert: true })).toEqual({ os: ['Debian', 'x'] })
    expect(await ask(grains.append, { key: 'new:list', val: ['a', 'b'] })).toEqual({
      new: { list: ['a', 'b'] },
    })
    expect(await ask(grains.remove, { key: 'roles', val: 'db' })).toEqual({ roles: ['web', 'mail'] })
    expect(await ask(grains.remove, { key: 'roles', val: 'no' })).toBe('The val no was not in the list roles')
    expect(await ask(grains.remove, { key: 'roles', val: ['a', { b: null }] })).toBe(
      "The val ['a', {'b': None}] was not in the list roles",
    )
    expect(await kept()).toEqual({ roles: ['web', 'mail'], os: ['Debian', 'x'], new: { list: ['a', 'b'] } })
  })

  test('by many concurrent writers loses no value', SLOW, async () => {
    const values = Array.from({ length: 20 }, (_, index) => `v${index}`)
    await Promise.all(values.map((val) => ask(grains.append, { key: 'many', val })))
    expect((await kept()).many.toSorted()).toEqual(values.toSorted())
  })

  describe('while other processes change the file', () => {
    let now = 0
    let looks = 0
    beforeEach(() => {
      vi.spyOn(Date, 'now').mockImplementation(() => {
        looks++
        return now
      })
    })
    afterEach(() => vi.restoreAllMocks())

    /** There is one at every moment, of one writer after the other. */
    async function lock(): Promise<void> {
      await symlink(`${process.pid} ${await bornAt(process.pid)}`, `${file}.next`)
      await rename(`${file}.next`, `${file}.lock`)
    }
    /** The one that waits has looked at the lock since this was called. */
    async function looked(): Promise<void> {
      for (const before = looks; looks < before + 3; ) await delay(5)
    }

    test('a writer gets its turn, however many come after it', async () => {
      await lock()
      const written = ask(grains.setval, { key: 'a', val: 1 })
      for (let others = 0; others < 4; others++) {
        await looked()
        now += 8_000
        await lock()
      }
      await rm(`${file}.lock`)
      await written
      expect(await kept()).toMatchObject({ a: 1 })
    })

    test('a writer gives up if another one does not end', async () => {
      await lock()
      const refused = expect(ask(grains.setval, { key: 'a', val: 1 })).rejects.toThrow(
        'has locked the grains file for more than 10 s; see',
      )
      // The writer may look for the first time only after the clock has been moved.
      let isOver = false
      const over = refused.finally(() => {
        isOver = true
      })
      while (!isOver) {
        now += 11_000
        await delay(5)
      }
      await over
      await rm(`${file}.lock`)
    })
  })

  test('a lock whose holder has died is taken over, even if another process has its id', async () => {
    const dead = spawnSync('true').pid
    for (const holder of [`${dead} boot/7`, `${process.pid} boot/7`, String(process.pid)]) {
      await symlink(holder, `${file}.lock`)
      await ask(grains.setval, { key: 'a', val: holder })
      expect(await kept()).toEqual({ a: holder })
    }
  })

  test('set changes a nested value and returns the changes', async () => {
    const done = (changes: object) => ({ comment: '', changes, result: true })
    expect(await ask(grains.set, { key: 'apps:one:port', val: 81 })).toEqual(
      done({ apps: { ...known.apps, one: { port: 81 } } }),
    )
    expect(await ask(grains.set, { key: 'a:b:c', val: 'd' })).toEqual(done({ a: { b: { c: 'd' } } }))
    expect(await ask(grains.set, { key: 'apps:list:b', val: 2 })).toMatchObject({
      changes: { apps: { list: [{ a: 1 }, { b: 2 }] } },
    })
    expect(await ask(grains.set, { key: 'os', val: 'Debian' })).toMatchObject({
      comment: 'Grain is already set',
      changes: {},
    })
  })

  test('set does not overwrite maps, lists and other values without force', async () => {
    const refused = (comment: string) => ({ comment, changes: {}, result: false })
    expect(await ask(grains.set, { key: 'roles', val: 'x' })).toEqual(
      refused("The key 'roles' exists but is a dict or a list. Use 'force=True' to overwrite."),
    )
    expect(await ask(grains.set, { key: 'os', val: [1] })).toEqual(
      refused("The key 'os' exists and the given value is a dict or a list. Use 'force=True' to overwrite."),
    )
    expect(await ask(grains.set, { key: 'os:x', val: 1 })).toEqual(
      refused(
        "The key 'os' value is 'Debian', which is different from the provided key 'x'. Use 'force=True' to overwrite.",
      ),
    )
    expect(await ask(grains.set, { key: 'os:x', val: 1, force: true })).toMatchObject({
      changes: { os: { x: 1 } },
    })
  })

  test('delval sets null, delkey removes the key', async () => {
    await writeFile(file, 'a: {b: 1, c: 2}\nd: 3\n')
    expect(await ask(grains.delval, { key: 'd' })).toMatchObject({ changes: { d: null }, result: true })
    expect(await ask(grains.delkey, { key: 'a:b' })).toMatchObject({ changes: { a: { c: 2 } } })
    expect(await kept()).toEqual({ a: { c: 2 }, d: null })
    expect(await ask(grains.delkey, { key: 'a' })).toMatchObject({ result: false })
    await ask(grains.delkey, { key: 'a', force: true })
    expect(await kept()).toEqual({ d: null })
  })

  test('a broken file is not overwritten', async () => {
    await writeFile(file, 'a: [1\n')
    const failure = ask(grains.setval, { key: 'b', val: 1 })
    await expect(failure).rejects.toThrow(CommandExecutionError)
    await expect(failure).rejects.toThrow('Unable to read existing grains file')
    expect(await readFile(file, 'utf8')).toBe('a: [1\n')
  })

  test('a file that cannot be written is an error, not a success', async () => {
    await removeFolder(folder)
    await expect(ask(grains.setval, { key: 'b', val: 1 })).rejects.toThrow(
      /Unable to write .* Check permissions/,
    )
    expect(refreshes).toBe(0)
  })
})
