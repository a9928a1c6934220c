import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untyped } from '../../core/author/calls.ts'
import { fn, p } from '../../core/author/index.ts'
import { Cluster, recordRun, recordStored, replay } from '../../core/testing/index.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

let folder: string
let cluster: Cluster
beforeAll(async () => {
  folder = await temporaryFolder('salt-testing-')
  await mkdir(join(folder, 'modules'))
  await mkdir(join(folder, 'runners'))
  await writeFile(
    join(folder, 'modules', 'hello.ts'),
    `import { CommandExecutionError, fn, p } from 'salt-ts'
export const greet = fn({ name: p.string() }, async ({ name }, { id, grains, minion }) => {
  await minion.fireMaster('hello/greeted', { name })
  return \`Hello, \${name}, from \${id} (\${grains.role})\`
})
export const fail = fn(() => { throw new CommandExecutionError('no room') })
`,
  )
  await writeFile(
    join(folder, 'runners', 'fleet.ts'),
    `import { fn } from 'salt-ts'
export const greet = fn(async (_, { master }) => {
  const said = []
  for await (const answer of master.run({ tgt: '*', fun: 'hello.greet', arg: ['Bob'] })) said.push(answer.return)
  return said.sort()
})
`,
  )
  const minions = { web1: { grains: { role: 'web' } }, db1: { grains: { role: 'db' } } }
  cluster = await Cluster.open({ minions, moduleDirs: [folder] })
})
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

test('a function of a folder runs on the minions of its target, each with its own grains', async () => {
  expect(await cluster.run('*', 'hello.greet', ['Ada'])).toEqual({
    web1: 'Hello, Ada, from web1 (web)',
    db1: 'Hello, Ada, from db1 (db)',
  })
  expect(await cluster.run('web*', 'hello.greet', { name: 'Ada' })).toEqual({
    web1: 'Hello, Ada, from web1 (web)',
  })
})

test('a list of ids is a target of its own type, also without a name of that type', async () => {
  const results = await cluster.results({ tgt: ['web1', 'nobody'], fun: 'test.ping' })
  expect(results.map(({ id, state }) => `${id} ${state}`).sort()).toEqual(['nobody missing', 'web1 returned'])
})

test('a function that fails, or does not return, is an error that names the minion and the reason', async () => {
  await expect(cluster.run('web1', 'hello.fail')).rejects.toThrow('hello.fail failed on web1: ERROR: no room')
  await expect(cluster.run('nobody', 'test.ping')).rejects.toThrow('No minions matched the target')
  await cluster.minions.stop('db1')
  const request = { tgt: '*', fun: 'test.ping' as const, timeout: 0.2, gatherJobTimeout: 0.2 }
  const results = await cluster.results(request)
  expect(results.map(({ id, state }) => `${id} ${state}`).sort()).toEqual(['db1 missing', 'web1 returned'])
  await cluster.minions.start('db1')
})

test('runners run against the same master', async () => {
  expect(await cluster.runner('fleet.greet')).toEqual(expect.arrayContaining(['Hello, Bob, from web1 (web)']))
  const look = () => cluster.runner('jobs.list_jobs')
  for (let times = 0; times < 5; times++) {
    const [jobs] = await Promise.all([look(), cluster.run('web1', 'test.ping'), look()])
    expect(jobs).not.toEqual({})
  }
  await expect(cluster.runner('fleet.no')).rejects.toThrow('not available')
})

test('events and log lines of minions can be observed', async () => {
  expect(cluster.events.filter(({ tag }) => tag === 'hello/greeted').length).toBeGreaterThan(0)
  expect(cluster.minions.logged('web1').join('\n')).toContain('hello.greet')
})

test('a job that really ran is recorded, as it runs or from the job cache, and replayed', async () => {
  const request = { tgt: 'web1', fun: untyped('hello.greet'), kwarg: { name: 'Ada' } }
  const [live] = await recordRun(cluster.client, request)
  expect(live).toMatchObject({ id: 'web1', args: [], kwargs: { name: 'Ada' }, success: true })
  const [stored] = await recordStored(cluster, live?.jid ?? '')
  expect(stored).toEqual(live)
  const greet = fn(
    { name: p.string() },
    ({ name }, { id, grains }) => `Hello, ${name}, from ${id} (${grains.role})`,
  )
  await replay(stored!, greet, { grains: { role: 'web' } })
  await expect(recordStored(cluster, '20260101000000000000')).rejects.toThrow('has no job 2026')
})
