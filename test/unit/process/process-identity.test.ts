import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import {
  identityOf,
  isRunning,
  newProcessToken,
  PROCESS_TOKEN,
  readIdentity,
} from '../../../core/process/process-identity.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function start(token: string): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn('cat', {
    env: { ...process.env, [PROCESS_TOKEN]: token },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  children.push(child)
  await once(child, 'spawn')
  return child as ChildProcess & { pid: number }
}

test('a process is identified by its start time and its token', async () => {
  const token = newProcessToken()
  const child = await start(token)
  const identity = identityOf(child.pid, token)
  expect(isRunning(identity)).toBe(true)
  expect(readIdentity({ ...identity, jid: '1' })).toEqual(identity)
  child.kill()
  await once(child, 'exit')
  expect(isRunning(identity)).toBe(false)
})

test('another process with the same id is not confused with it', async () => {
  const token = newProcessToken()
  const { pid } = await start(token)
  const { born = '' } = identityOf(pid)
  const [boot, ticks] = born.split('/')
  expect(isRunning({ pid, born: `${boot}/${Number(ticks) - 1}`, token })).toBe(false) // begun at another time
  expect(isRunning({ pid, born: `another/${ticks}`, token })).toBe(false) // in another start of the machine
  expect(isRunning({ pid, born, token: newProcessToken() })).toBe(false) // in the same tick
  expect(isRunning({ pid })).toBe(false) // nothing is known but the number
})

test.each([{}, { pid: '7' }, { pid: 0 }, { pid: -3 }, { pid: 1.5 }])(
  '%j does not identify a process',
  (noted) => {
    expect(readIdentity(noted)).toBeUndefined()
  },
)
