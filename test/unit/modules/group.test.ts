import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as group from '../../../modules/group.ts'
import { removeFolder } from '../../harness/folder.ts'
import { needs } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { scratchRoot, shadowPrograms } from './_accounts/scratch-root.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let root: string
/** Call a function below the scratch root. */
const below = (called: AnyFn, given: Record<string, unknown>, context = fakeContext()) =>
  call(called, { ...given, root }, context)
const infoOf = (name: string) => below(group.info, { name })

beforeEach(async () => {
  root = await scratchRoot()
})
afterEach(() => removeFolder(root))

describe('Groups are read', () => {
  test('by group.info, which has the members of Salt', async () => {
    expect(await infoOf('wheel')).toEqual({ name: 'wheel', passwd: 'x', gid: 10, members: ['fred'] })
    expect(await infoOf('audio')).toMatchObject({ members: [] })
    expect(await infoOf('nosuchgroup')).toEqual({})
    expect(await call(group.info, { name: 'root' })).toMatchObject({ name: 'root', gid: 0 })
  })

  test('by group.getent, all of them', async () => {
    const all = (await below(group.getent, {})) as { name: string }[]
    expect(all.map(({ name }) => name)).toEqual(['root', 'daemon', 'wheel', 'audio', 'fred'])
    expect(await call(group.getent)).toContainEqual(expect.objectContaining({ name: 'root' }))
  })
})

describe('Groups are changed', needs(...shadowPrograms), () => {
  test('group.add accepts a gid', async () => {
    expect(await below(group.add, { name: 'foo', gid: 3456 })).toBe(true)
    expect(await infoOf('foo')).toMatchObject({ gid: 3456, members: [] })
  })

  test('group.add with system uses a low gid', async () => {
    expect(await below(group.add, { name: 'foo', system: true })).toBe(true)
    expect((await infoOf('foo')) as { gid: number }).toMatchObject({ gid: expect.toSatisfy((n) => n < 1000) })
  })

  test('group.add returns false for a name or id in use, unless non_unique allows the id', async () => {
    const context = fakeContext()
    expect(await below(group.add, { name: 'wheel' }, context)).toBe(false)
    expect(context.retcode).toBe(9)
    expect(await below(group.add, { name: 'foo', gid: 10 })).toBe(false)
    expect(await below(group.add, { name: 'foo', gid: '10', non_unique: true })).toBe(true)
    expect(await below(group.add, { name: '-h' })).toBe(false)
  })

  test('group.delete deletes', async () => {
    expect(await below(group.delete, { name: 'audio' })).toBe(true)
    expect(await infoOf('audio')).toEqual({})
    expect(await below(group.delete, { name: 'audio' })).toBe(false)
  })

  test('group.chgid changes the id', async () => {
    expect(await below(group.chgid, { name: 'audio', gid: 4376 })).toBe(true)
    expect(await below(group.chgid, { name: 'audio', gid: 4376 })).toBe(true)
    expect(await infoOf('audio')).toMatchObject({ gid: 4376 })
    expect(await below(group.chgid, { name: 'audio', gid: 10 })).toBe(false)
    expect(await below(group.chgid, { name: 'audio', gid: 10, non_unique: true })).toBe(true)
    expect(await below(group.chgid, { name: 'nosuchgroup', gid: 10 })).toBe(false)
  })

  test('group.adduser and group.deluser add and remove a member', async () => {
    expect(await below(group.adduser, { name: 'audio', username: 'fred' })).toBe(true)
    expect(await infoOf('audio')).toMatchObject({ members: ['fred'] })
    expect(await below(group.deluser, { name: 'audio', username: 'fred' })).toBe(true)
    expect(await infoOf('audio')).toMatchObject({ members: [] })
  })

  test('group.adduser returns false for a user or a group that does not exist', async () => {
    expect(await below(group.adduser, { name: 'audio', username: 'nosuchuser' })).toBe(false)
    expect(await below(group.adduser, { name: 'nosuchgroup', username: 'fred' })).toBe(false)
  })

  test('group.deluser returns true if the user is not a member', async () => {
    expect(await below(group.deluser, { name: 'audio', username: 'fred' })).toBe(true)
    expect(await below(group.deluser, { name: 'nosuchgroup', username: 'fred' })).toBe(true)
  })

  test('group.members sets the members, as text or list', SLOW, async () => {
    expect(await below(group.members, { name: 'wheel', members_list: 'root,daemon' })).toBe(true)
    expect(await infoOf('wheel')).toMatchObject({ members: ['root', 'daemon'] })
    expect(await below(group.members, { name: 'wheel', members_list: ['fred'] })).toBe(true)
    expect(await infoOf('wheel')).toMatchObject({ members: ['fred'] })
    expect(await below(group.members, { name: 'wheel', members_list: '' })).toBe(true)
    expect(await infoOf('wheel')).toMatchObject({ members: [] })
    expect(await below(group.members, { name: 'wheel', members_list: 'nosuchuser' })).toBe(false)
  })
})

test('The module is refused where the kernel is not Linux', () => {
  const facts = (kernel: string) => ({ grains: { kernel } }) as unknown as Parameters<typeof group.virtual>[0]
  expect(group.virtual(facts('Linux'))).toBe(true)
  expect(group.virtual(facts('SunOS'))).toContain('groupadd execution module cannot be loaded')
})

test('Another root with folders that other users may write is refused, since programs load libraries from there', async () => {
  await chmod(root, 0o777)
  await expect(call(group.add, { name: 'web', root })).rejects.toThrow(`other users may write to ${root}`)
  await chmod(root, 0o755)
  await expect(call(group.add, { name: 'web', root: join(root, 'none') })).rejects.toThrow('does not exist')
})
