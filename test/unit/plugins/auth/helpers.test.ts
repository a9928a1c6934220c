import { afterEach, expect, test } from 'vitest'
import type { HashRequest } from '../../../../plugins/auth/_hash-process.ts'
import { type Helpers, type HelpersChoice, helpers } from '../../../../plugins/auth/_helpers.ts'
import { treeOf } from '../../../harness/processes.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

const { signal } = new AbortController()
const patience = { place: 'the file', seconds: 20, signal }
const QUICK: HashRequest = { kind: 'md5-crypt', password: 'horse', stored: '$1$salt$xxxxxxxxxxxxxxxxxxxxxx' }
/** Takes longer than any of these tests. */
const ENDLESS: HashRequest = { kind: 'bcrypt', password: 'horse', stored: `$2y$17$${'a'.repeat(53)}` }

const opened: Helpers<HashRequest, boolean>[] = []
const open = (choice: HelpersChoice) => {
  const one = helpers<HashRequest, boolean>('_hash-process', choice)
  opened.push(one)
  return one
}
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})
const running = () => treeOf(process.pid).filter(({ command }) => command.startsWith('salt auth file')).length

test('the pool of helpers queues requests up to the limit, and refuses others', SLOW, async () => {
  const one = open({ most: 1, waiting: 1 })
  const slow = one.ask(ENDLESS, { ...patience, seconds: 3 })
  const waits = one.ask(QUICK, patience)
  await expect(one.ask(QUICK, patience)).rejects.toThrow('the file: 1 requests are waiting already')
  await expect(slow).rejects.toThrow('the file: no answer within 3 seconds')
  expect(await waits).toBe(false)
})

test('the pool of helpers serves a request behind one whose caller has left', SLOW, async () => {
  const one = open({ most: 1 })
  const slow = one.ask(ENDLESS, { ...patience, seconds: 2 })
  slow.catch(() => undefined)
  const leaving = new AbortController()
  const left = one.ask(QUICK, { ...patience, signal: leaving.signal })
  const waits = one.ask(QUICK, patience)
  leaving.abort()
  await expect(left).rejects.toThrow('the caller no longer waits')
  expect(await waits).toBe(false)
})

test('the pool of helpers reuses a helper, and ends an idle one', SLOW, async () => {
  const one = open({ idleMs: 300 })
  expect(running()).toBe(0)
  await one.ask(QUICK, patience)
  await one.ask(QUICK, patience)
  expect(running()).toBe(1)
  await until('it to be gone', () => running() === 0)
  expect(await one.ask(QUICK, patience)).toBe(false)
})
