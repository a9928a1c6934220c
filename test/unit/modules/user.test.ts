import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as user from '../../../modules/user.ts'
import { removeFolder } from '../../harness/folder.ts'
import { needs } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { scratchRoot, shadowPrograms } from './_accounts/scratch-root.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let root: string
/** Call a function below the scratch root. */
const below = (called: AnyFn, given: Record<string, unknown>, context = fakeContext()) =>
  call(called, { ...given, root }, context)
const infoOf = async (name: string) => (await below(user.info, { name })) as Record<string, unknown>

beforeEach(async () => {
  root = await scratchRoot()
})
afterEach(() => removeFolder(root))

describe('user.info', () => {
  test('has the members of Salt, with the parts of the gecos field', async () => {
    expect(await infoOf('fred')).toEqual({
      gid: 1001,
      groups: ['fred', 'wheel'],
      home: '/home/fred',
      name: 'fred',
      passwd: 'x',
      shell: '/bin/sh',
      uid: 1001,
      fullname: 'Fred Flintstone',
      roomnumber: '12',
      workphone: '555-1',
      homephone: '555-2',
      other: 'a, b',
    })
  })

  test('finds root of this host', async () => {
    expect(await call(user.info, { name: 'root' })).toMatchObject({ name: 'root', uid: 0, gid: 0 })
  })

  test.each(['nosuchuser', 'fr', '', 'fred:x', '0'])('is an empty map for %j', async (name) => {
    expect(await infoOf(name)).toEqual({})
    expect(await call(user.info, { name })).toEqual({})
  })

  test('names the file that it cannot read', async () => {
    await expect(call(user.info, { name: 'fred', root: '/nonexistent' })).rejects.toThrow(
      new CommandExecutionError('Unable to read /nonexistent/etc/passwd: ENOENT'),
    )
  })
})

describe('Lists of users', () => {
  test('user.list_users is sorted', async () => {
    expect(await below(user.list_users, {})).toEqual(['daemon', 'fred', 'root'])
    expect(await call(user.list_users)).toContain('root')
  })

  test('user.getent describes every user', async () => {
    expect(await below(user.getent, {})).toMatchObject([
      { name: 'root', groups: ['root'] },
      { name: 'daemon', groups: ['daemon'] },
      { name: 'fred', groups: ['fred', 'wheel'] },
    ])
    expect(await call(user.getent)).toContainEqual(expect.objectContaining({ name: 'root', uid: 0 }))
  })

  test('user.list_groups has the primary group too', async () => {
    expect(await below(user.list_groups, { name: 'fred' })).toEqual(['fred', 'wheel'])
    expect(await call(user.list_groups, { name: 'root' })).toContain('root')
    expect(await call(user.list_groups, { name: 'nosuchuser' })).toEqual([])
  })

  test('user.primary_group prints the output of id, and fails with it', async () => {
    const context = fakeContext()
    expect(await call(user.primary_group, { name: 'root' }, context)).toBe('root')
    expect(context.retcode).toBe(0)
    expect(await call(user.primary_group, { name: 'nosuchuser' }, context)).toContain('no such user')
    expect(context.retcode).toBe(1)
  })
})

describe('user.add', needs(...shadowPrograms), () => {
  test('adds a user with the given properties', SLOW, async () => {
    const given = {
      name: 'name',
      uid: 1200,
      gid: 10,
      groups: 'fred,audio',
      home: '/home/other',
      shell: '/bin/bash',
      fullname: 'A Name',
      other: 'x, y',
    }
    expect(await below(user.add, given)).toBe(true)
    expect(await infoOf('name')).toMatchObject({
      uid: 1200,
      gid: 10,
      groups: ['audio', 'fred', 'wheel'],
      home: '/home/other',
      shell: '/bin/bash',
      fullname: 'A Name',
      roomnumber: '',
      other: 'x, y',
    })
    expect((await stat(join(root, 'home/other'))).uid).toBe(1200)
  })

  test('makes no home folder with createhome=False', async () => {
    expect(await below(user.add, { name: 'bob', createhome: false })).toBe(true)
    await expect(stat(join(root, 'home/bob'))).rejects.toThrow('ENOENT')
  })

  test('returns false, and the return code of useradd, for a user that exists', async () => {
    const context = fakeContext()
    expect(await below(user.add, { name: 'fred' }, context)).toBe(false)
    expect(context.retcode).toBe(9)
    expect(context.lines.map(({ message }) => message)).toContain(
      "stderr: useradd: user 'fred' already exists",
    )
  })

  test('allows an id in use only with unique=False', async () => {
    expect(await below(user.add, { name: 'bob', uid: 1001 })).toBe(false)
    expect(await below(user.add, { name: 'bob', uid: '1001', unique: false })).toBe(true)
  })

  test('uses an existing group of the same name as the primary one if it is in groups', async () => {
    expect(await below(user.add, { name: 'audio' })).toBe(false)
    expect(await below(user.add, { name: 'audio', groups: ['audio'], createhome: false })).toBe(true)
    expect(await infoOf('audio')).toMatchObject({ gid: 29 })
  })

  test('gives a user a group of its own only with usergroup', async () => {
    await below(user.add, { name: 'own', usergroup: true })
    await below(user.add, { name: 'none', usergroup: false })
    expect((await infoOf('own')).groups).toContain('own')
    expect((await infoOf('none')).groups).not.toContain('none')
  })

  test('accepts no option as a name', async () => {
    expect(await below(user.add, { name: '-h' })).toBe(false)
    expect(await below(user.add, { name: '--root=/' })).toBe(false)
  })

  test('adds no user if a part of the gecos field is invalid', async () => {
    await expect(below(user.add, { name: 'bob', fullname: 'Bob:0:0' })).rejects.toThrow(SaltInvocationError)
    expect(await infoOf('bob')).toEqual({})
  })
})

describe('user.delete', needs(...shadowPrograms), () => {
  test('deletes a user, and its home folder with remove', async () => {
    await below(user.add, { name: 'name' })
    expect(await below(user.delete, { name: 'name', remove: true, force: true })).toBe(true)
    expect(await infoOf('name')).toEqual({})
    await expect(stat(join(root, 'home/name'))).rejects.toThrow('ENOENT')
  })

  test('returns false for a user that does not exist', async () => {
    const context = fakeContext()
    expect(await below(user.delete, { name: 'nosuchuser' }, context)).toBe(false)
    expect(context.retcode).toBe(6)
  })
})

describe('Changes of a user', needs(...shadowPrograms), () => {
  const cases: [string, AnyFn, Record<string, unknown>, Record<string, unknown>][] = [
    ['chuid', user.chuid, { uid: 4376 }, { uid: 4376 }],
    ['chgid', user.chgid, { gid: 10 }, { gid: 10 }],
    ['chgid by name', user.chgid, { gid: 'audio' }, { gid: 29 }],
    ['chshell', user.chshell, { shell: '/bin/zsh' }, { shell: '/bin/zsh' }],
    ['chhome', user.chhome, { home: '/home/users/fred' }, { home: '/home/users/fred' }],
    ['chfullname', user.chfullname, { fullname: 'Foo Bar' }, { fullname: 'Foo Bar', roomnumber: '12' }],
    ['chroomnumber', user.chroomnumber, { roomnumber: '123' }, { roomnumber: '123' }],
    ['chworkphone', user.chworkphone, { workphone: '7735550123' }, { workphone: '7735550123' }],
    ['chhomephone', user.chhomephone, { homephone: '7735551234' }, { homephone: '7735551234' }],
    ['chother', user.chother, { other: 'bar' }, { other: 'bar', fullname: 'Fred Flintstone' }],
    ['chgroups', user.chgroups, { groups: 'audio,root' }, { groups: ['audio', 'fred', 'root'] }],
    [
      'chgroups with append',
      user.chgroups,
      { groups: ['audio'], append: true },
      { groups: ['audio', 'fred', 'wheel'] },
    ],
  ]
  test.each(cases)(
    '%s returns true when it has changed it, and again',
    async (_, called, given, expected) => {
      expect(await below(called, { name: 'fred', ...given })).toBe(true)
      expect(await infoOf('fred')).toMatchObject(expected)
      expect(await below(called, { name: 'fred', ...given })).toBe(true)
    },
  )

  test.each(cases.filter(([name]) => !name.startsWith('chgroups')))(
    '%s refuses a user that does not exist',
    async (_, called, given) => {
      await expect(below(called, { name: 'nosuchuser', ...given })).rejects.toThrow(
        new CommandExecutionError("User 'nosuchuser' does not exist"),
      )
    },
  )

  test('chhome moves the content with persist', async () => {
    await below(user.add, { name: 'foo' })
    expect(await below(user.chhome, { name: 'foo', home: '/home/new', persist: true })).toBe(true)
    expect((await stat(join(root, 'home/new'))).isDirectory()).toBe(true)
    await expect(stat(join(root, 'home/foo'))).rejects.toThrow('ENOENT')
  })

  test('chgroups returns false for a group or a user that does not exist', async () => {
    expect(await below(user.chgroups, { name: 'fred', groups: 'nosuchgroup' })).toBe(false)
    expect(await below(user.chgroups, { name: 'nosuchuser', groups: 'wheel' })).toBe(false)
  })

  test('chuid returns false for an id in use', async () => {
    expect(await below(user.chuid, { name: 'fred', uid: 1 })).toBe(false)
  })

  test('chgid returns false for a group that does not exist', async () => {
    expect(await below(user.chgid, { name: 'fred', gid: 'nosuchgroup' })).toBe(false)
  })

  test.each([
    ['a,b', ','],
    ['a:b', ':'],
    ['a\nb', '\\n'],
  ])('chfullname refuses %j', async (fullname, sign) => {
    await expect(below(user.chfullname, { name: 'fred', fullname })).rejects.toThrow(
      `fullname must not contain "${sign}"`,
    )
  })

  test('rename returns true, and refuses a name in use', async () => {
    expect(await below(user.rename, { name: 'fred', new_name: 'frederic' })).toBe(true)
    expect(await infoOf('frederic')).toMatchObject({ uid: 1001 })
    await expect(below(user.rename, { name: 'frederic', new_name: 'root' })).rejects.toThrow(
      "User 'root' already exists",
    )
  })
})

test('The module is refused where the kernel is not Linux', () => {
  const facts = (kernel: string) => ({ grains: { kernel } }) as unknown as Parameters<typeof user.virtual>[0]
  expect(user.virtual(facts('Linux'))).toBe(true)
  expect(user.virtual(facts('SunOS'))).toContain('useradd execution module not loaded')
})
