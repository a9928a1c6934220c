/** The master loads new and changed extensions without a restart, whether they come by a sync or are written by hand. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

let folder: string
let cluster: Cluster
let pid: number

beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-extensions-')
  cluster = await Cluster.open({
    master: {
      file_roots: { base: [join(folder, 'srv')] },
      auth_dirs: [join(folder, 'own')],
      external_auth: { mine: { ada: ['.*'] } },
    },
  })
  await cluster.addMinion('web1')
  await cluster.addMinion('web2')
  pid = cluster.master.pid
}, 120_000)
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

async function write(place: string, file: string, text: string): Promise<void> {
  await mkdir(join(folder, place), { recursive: true })
  await writeFile(join(folder, place, file), text)
}

async function meant(): Promise<readonly string[]> {
  const client = await cluster.client()
  try {
    return (await client.runJob({ tgt: 'x', tgtType: 'mine', fun: 'test.ping', arg: [] })).minions
  } catch {
    return []
  } finally {
    await client.close()
  }
}

test('targets use a new or changed matcher after a sync', async () => {
  for (const id of ['web1', 'web2']) {
    await write('srv/_matchers', 'mine.mjs', `export default { match: (_, { id }) => id === '${id}' }\n`)
    const { code, stdout } = await cluster.spawned('salt-run', 'saltutil.sync_matchers')
    expect([code, stdout]).toEqual([0, expect.stringContaining('matchers.mine')])
    await until(`the target to mean ${id}`, async () => (await meant()).join() === id)
  }
  expect(cluster.master.pid).toBe(pid)
})

test('log-ins use a new or changed backend of external_auth after it is written', async () => {
  const login = async (password: string) => {
    const words = ['-a', 'mine', '--username', 'ada', '--password', password]
    return (await cluster.spawned('salt', ...words, 'web1', 'test.ping')).code
  }
  for (const password of ['one', 'another']) {
    const authenticate = `password === '${password}' ? { name: username } : { refused: 'not so' }`
    await write(
      'own',
      'mine.mjs',
      `export default { authenticate: async ({ username, password }) => (${authenticate}) }\n`,
    )
    await until(`the password ${password} to be taken`, async () => (await login(password)) === 0)
  }
  expect(await login('one')).not.toBe(0)
})
