import { expect, test } from 'vitest'
import { eventGroup } from '../../../core/keys/index.ts'

const groups = async () =>
  new Map<number, ReadonlySet<string>>([
    [0, new Set(['root'])],
    [100, new Set(['root', 'ann', 'bob', 'guest'])],
    [1001, new Set(['ann'])],
    [2000, new Set(['ann', 'bob', 'root'])],
    [3000, new Set(['salt', 'ann', 'guest'])],
  ])
const root = { gid: 0, user: 'root' }

test('a user with a group of their own reads events by it', async () => {
  expect(await eventGroup(['ann'], root, groups)).toBe(1001)
})

test('several users need a group that contains them all, and no others but the user of the master and root', async () => {
  expect(await eventGroup(['ann', 'bob'], root, groups)).toBe(2000)
  expect(await eventGroup(['bob', 'guest'], root, groups)).toBeUndefined()
})

test('the group of the master is used if it contains them, whatever other members it has', async () => {
  expect(await eventGroup(['ann'], { gid: 3000, user: 'salt' }, groups)).toBe(3000)
})
