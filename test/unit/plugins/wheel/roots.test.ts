/** `file_roots.*` and `pillar_roots.*` of the wheel: what they show and write, and what lies outside and stays there. */
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../../../core/testing/index.ts'
import * as fileRoots from '../../../../plugins/wheel/file_roots.ts'
import * as pillarRoots from '../../../../plugins/wheel/pillar_roots.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
let base: string
let more: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-roots-')
  base = join(folder, 'base')
  more = join(folder, 'more')
  await mkdir(join(base, 'web/conf'), { recursive: true })
  await mkdir(more)
  await writeFile(join(base, 'top.sls'), 'base: ä\n')
  await writeFile(join(base, 'web/logo.png'), Buffer.from([0x89, 0x50, 0, 1]))
  await writeFile(join(more, 'top.sls'), 'more: {}\n')
  await writeFile(join(folder, 'master.pem'), 'SECRET')
})
afterEach(() => removeFolder(folder))

describe.each([
  ['file_roots', fileRoots],
  ['pillar_roots', pillarRoots],
])('%s', (option, wheel) => {
  const given = async (tested: unknown, args: object | readonly unknown[] = [], opts = {}) => {
    const roots = { base: [base, more], dev: [], gone: [join(folder, 'gone')] }
    const surroundings = { master: {}, opts: { [option]: roots, ...opts } }
    return (await run(tested, args as readonly unknown[], surroundings)).result
  }
  const writing = (...args: readonly unknown[]) => given(wheel.write, args, { wheel_write_roots: true })

  test('find distinguishes text from other files, in all roots of the environment', async () => {
    const top = [{ [join(base, 'top.sls')]: 'txt' }, { [join(more, 'top.sls')]: 'txt' }]
    expect(await given(wheel.find, ['top.sls'])).toEqual(top)
    expect(await given(wheel.find, ['./web//logo.png'])).toEqual([{ [join(base, 'web/logo.png')]: 'bin' }])
    for (const [path, saltenv] of [
      ['web', 'base'],
      ['no.sls', 'base'],
      ['top.sls', 'dev'],
      ['top.sls', 'gone'],
      ['top.sls', '__proto__'],
    ])
      expect(await given(wheel.find, [path, saltenv])).toEqual([])
  })

  test('a long text counts as text, even if a character lies across the limit of the check', async () => {
    await writeFile(join(base, 'long'), `${'x'.repeat(8191)}ä`)
    expect(await given(wheel.find, ['long'])).toEqual([{ [join(base, 'long')]: 'txt' }])
  })

  test('read returns texts, and leaves out other files', async () => {
    expect(await given(wheel.read, ['top.sls'])).toEqual([
      { [join(base, 'top.sls')]: 'base: ä\n' },
      { [join(more, 'top.sls')]: 'more: {}\n' },
    ])
    expect(await given(wheel.read, ['web/logo.png'])).toEqual([])
  })

  test('lists show roots, folders and files, and do not enter linked folders', async () => {
    await symlink(base, join(more, 'loop'))
    await symlink('/no/such', join(more, 'dangling'))
    const trees = {
      [base]: { 'top.sls': 'f', web: { conf: {}, 'logo.png': 'f' } },
      [more]: { dangling: 'f', loop: {}, 'top.sls': 'f' },
    }
    expect(await given(wheel.list_env)).toEqual(trees)
    expect(await given(wheel.list_env, ['nosuch'])).toEqual({})
    expect(await given(wheel.list_roots)).toEqual({
      base: [trees],
      dev: [{}],
      gone: [{ [join(folder, 'gone')]: {} }],
    })
  })

  test('write creates and replaces files, in the given root', async () => {
    expect(await writing('a: 1\n', 'new/dir/a.sls')).toBe(`Wrote data to file ${join(base, 'new/dir/a.sls')}`)
    expect(await readFile(join(base, 'new/dir/a.sls'), 'utf8')).toBe('a: 1\n')
    await chmod(join(more, 'top.sls'), 0o600)
    await writing('b: 2\n', 'top.sls', 'base', 1)
    expect(await readFile(join(more, 'top.sls'), 'utf8')).toBe('b: 2\n')
    expect((await stat(join(more, 'top.sls'))).mode & 0o777).toBe(0o600)
    expect(await readdir(more)).toEqual(['top.sls'])
    await expect(writing('x', 'a', 'base', 2)).rejects.toThrow(
      `${option} of the master has no directory with index 2`,
    )
    await expect(writing('x', 'a', 'toString')).rejects.toThrow("no directory with index 0 for 'toString'")
    await expect(writing('x', 'web')).rejects.toThrow(
      `${join(base, 'web')} cannot be written: there is a folder of that name`,
    )
  })

  test('write is disabled until the master allows it', async () => {
    await expect(given(wheel.write, ['x', 'a.sls'])).rejects.toThrow('wheel_write_roots: true')
    expect(await readdir(base)).toEqual(['top.sls', 'web'])
  })

  test.each(['../master.pem', 'web/../../master.pem', '/etc/passwd', '..', '.', 'a\0b'])(
    'CVE-2020-11652, CVE-2021-25282: the path %j is refused',
    async (path) => {
      const refused = 'is not a path inside an environment'
      await expect(given(wheel.find, [path])).rejects.toThrow(refused)
      await expect(given(wheel.read, [path])).rejects.toThrow(refused)
      await expect(writing('x', path)).rejects.toThrow(refused)
      expect(await readFile(join(folder, 'master.pem'), 'utf8')).toBe('SECRET')
    },
  )

  test('CVE-2021-25282: an environment that is a path has no files', async () => {
    for (const saltenv of ['..', '../..', `${folder}`]) {
      expect(await given(wheel.read, ['master.pem', saltenv])).toEqual([])
      await expect(writing('x', 'master.pem', saltenv)).rejects.toThrow('has no directory with index 0')
    }
    expect(await readFile(join(folder, 'master.pem'), 'utf8')).toBe('SECRET')
  })

  test('links that lead out of a root are not followed, neither to read nor to write', async () => {
    await symlink(join(folder, 'master.pem'), join(base, 'stolen'))
    await symlink(folder, join(base, 'up'))
    for (const path of ['stolen', 'up/master.pem']) {
      expect(await given(wheel.find, [path])).toEqual([])
      expect(await given(wheel.read, [path])).toEqual([])
    }
    await expect(writing('x', 'up/master.pem')).rejects.toThrow(`${join(base, 'up')} leads out of ${base}`)
    await writing('mine', 'stolen')
    expect(await readFile(join(base, 'stolen'), 'utf8')).toBe('mine')
    expect(await readFile(join(folder, 'master.pem'), 'utf8')).toBe('SECRET')
  })
})
