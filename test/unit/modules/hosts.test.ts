import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fn, p } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as hosts from '../../../modules/hosts.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { hostContext } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const CONTENT = `# the loopback
127.0.0.1 localhost lo

10.0.0.1   a b # hi # there
10.0.0.1\tc
::1 localhost
`
let folder: string
let file: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-hosts-')
  file = join(folder, 'hosts')
  await writeFile(file, CONTENT)
})
afterEach(() => removeFolder(folder))

const ask = (which: AnyFn, given: Record<string, unknown> = {}) =>
  call(which, given, hostContext({ 'config.option': fn({ value: p.string() }, () => file) }))
const content = () => readFile(file, 'utf8')

describe('Reading the hosts file', () => {
  test('list_hosts joins the lines of an address, and lists comment lines', async () => {
    expect(await ask(hosts.list_hosts)).toEqual({
      'comment-0': ['# the loopback'],
      '127.0.0.1': { aliases: ['localhost', 'lo'] },
      '10.0.0.1': { aliases: ['a', 'b', 'c'], comment: 'hi # there' },
      '::1': { aliases: ['localhost'] },
    })
  })

  test('get_ip, get_alias and has_pair find entries', async () => {
    expect(await ask(hosts.get_ip, { host: 'localhost' })).toBe('127.0.0.1')
    expect(await ask(hosts.get_ip, { host: 'none' })).toBe('')
    expect(await ask(hosts.get_alias, { ip: '10.0.0.1' })).toEqual(['a', 'b', 'c'])
    expect(await ask(hosts.get_alias, { ip: '10.0.0.9' })).toEqual([])
    expect(await ask(hosts.has_pair, { ip: '10.0.0.1', alias: 'c' })).toBe(true)
    expect(await ask(hosts.has_pair, { ip: '10.0.0.1', alias: ['a', 'z'] })).toBe(false)
    expect(await ask(hosts.has_pair, { ip: '10.0.0.9', alias: 'a' })).toBe(false)
  })

  test('a missing file has no hosts', async () => {
    file = join(folder, 'none')
    expect(await ask(hosts.list_hosts)).toEqual({})
  })
})

describe('Changing the hosts file', () => {
  test('set_host replaces the lines of an address by one', async () => {
    expect(await ask(hosts.set_host, { ip: '10.0.0.1', alias: 'x y', comment: 'new' })).toBe(true)
    expect(await content()).toBe(
      '# the loopback\n127.0.0.1 localhost lo\n\n10.0.0.1\t\tx y\t\t# new\n::1 localhost\n',
    )
  })

  test('set_host adds an address, and removes it if there are no names', async () => {
    await ask(hosts.set_host, { ip: '10.0.0.2', alias: 'd' })
    expect(await content()).toBe(`${CONTENT}10.0.0.2\t\td\n`)
    await ask(hosts.set_host, { ip: '10.0.0.2', alias: ' ' })
    expect(await content()).toBe(CONTENT)
  })

  test('a line break in a value does not add a line', async () => {
    await ask(hosts.set_host, { ip: '10.0.0.2', alias: 'd\n1.2.3.4 bank' })
    expect(await ask(hosts.get_ip, { host: 'bank' })).toBe('10.0.0.2')
  })

  test('add_host adds a name to the first line, and leaves all other lines as they are', async () => {
    expect(await ask(hosts.add_host, { ip: '10.0.0.1', alias: 'd' })).toBe(true)
    expect(await content()).toBe(
      CONTENT.replace('10.0.0.1   a b # hi # there', '10.0.0.1\t\ta b d\t\t# hi # there'),
    )
    const before = await content()
    expect(await ask(hosts.add_host, { ip: '10.0.0.1', alias: 'c' })).toBe(true)
    expect(await content()).toBe(before)
  })

  test('rm_host removes a name, and the line with its last name', async () => {
    await ask(hosts.rm_host, { ip: '10.0.0.1', alias: 'b' })
    await ask(hosts.rm_host, { ip: '10.0.0.1', alias: 'c' })
    expect(await ask(hosts.rm_host, { ip: '10.0.0.1', alias: 'none' })).toBe(true)
    expect(await content()).toBe(
      '# the loopback\n127.0.0.1 localhost lo\n\n10.0.0.1\t\ta\t\t# hi # there\n::1 localhost\n',
    )
  })

  test('set_comment sets the comment of an existing address', async () => {
    expect(await ask(hosts.set_comment, { ip: '::1', comment: 'six' })).toBe(true)
    expect(await ask(hosts.set_comment, { ip: '::2', comment: 'six' })).toBe(false)
    expect(await ask(hosts.list_hosts)).toMatchObject({ '::1': { comment: 'six' } })
  })

  test('mode and symlink of the file are kept', async () => {
    await chmod(file, 0o640)
    const target = file
    file = join(folder, 'link')
    await symlink(target, file)
    await ask(hosts.add_host, { ip: '10.0.0.3', alias: 'e' })
    expect((await stat(target)).mode & 0o777).toBe(0o640)
    expect(await readFile(target, 'utf8')).toContain('10.0.0.3\t\te\n')
  })

  test('a missing file is created; a folder in its place is refused', async () => {
    file = join(folder, 'new')
    expect(await ask(hosts.add_host, { ip: '10.0.0.3', alias: 'e' })).toBe(true)
    expect(await content()).toBe('10.0.0.3\t\te\n')
    file = join(folder, 'folder')
    await mkdir(file)
    expect(await ask(hosts.set_host, { ip: '10.0.0.3', alias: 'e' })).toBe(false)
  })

  test('a file that cannot be written is an error that names it', async () => {
    file = join(folder, 'no', 'hosts')
    await expect(ask(hosts.set_host, { ip: '10.0.0.3', alias: 'e' })).rejects.toThrow(
      `Couldn't write to ${file}: No such file or directory`,
    )
  })
})
