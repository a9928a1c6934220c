import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({ minions: ['web1', 'web2'] })
})
afterAll(() => cluster?.close())

test('every minion answers test.ping, and the exit code is 0', async () => {
  const { stdout, stderr, code } = await cluster.spawned(
    'salt',
    '*',
    'test.ping',
    '--out',
    'json',
    '--static',
  )
  expect({ stdout: JSON.parse(stdout || '{}'), stderr, code }).toEqual({
    stdout: { web1: true, web2: true },
    stderr: '',
    code: 0,
  })
})

test('cmd.run goes through the shell when it is a job of its own', async () => {
  const { stdout, code } = await cluster.spawned('salt', 'web1', 'cmd.run', 'sleep 0.1; echo hello world')
  expect(stdout).toBe('web1:\n    hello world\n')
  expect(code).toBe(0)
})

test('a job that outlives the time-out is awaited, because find_job reports that it still runs', async () => {
  const { stdout, code } = await cluster.spawned(
    'salt',
    '-t',
    '2',
    'web*',
    'cmd.run',
    'sleep 6; echo hello world',
    '--out',
    'txt',
  )
  expect(stdout.trim().split('\n').sort()).toEqual(['web1: hello world', 'web2: hello world'])
  expect(code).toBe(0)
})

test('a stopped minion is named with a reason, and the exit code is not 0', async () => {
  await cluster.addMinion('gone')
  await cluster.minions.get('gone')!.stop('SIGKILL')
  const { stdout, code } = await cluster.spawned('salt', '-t', '1', 'gone,web1', '-L', 'test.ping')
  expect(stdout).toContain('web1:\n    True')
  expect(stdout).toMatch(/gone:\n\s+Minion did not return\. \[(Not connected|No response)/)
  expect(code).not.toBe(0)
})

test('a command that fails gives its exit code as the retcode and makes the job fail', async () => {
  const { code } = await cluster.spawned('salt', 'web1', 'cmd.run', 'exit 3')
  expect(code).not.toBe(0)
})
