import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { runHere } from '../../harness/run-here.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder()
  const secrets = { driver: 'sqlite3', database: join(folder, 'secrets.db'), table: 'secrets' }
  const config = { root_dir: folder, client_acl_verify: false, secrets }
  await writeFile(join(folder, 'master'), JSON.stringify(config))
})
afterAll(() => removeFolder(folder))

async function run(...words: string[]): Promise<unknown> {
  const { stdout, stderr } = await runHere('salt-run', ['-c', folder, '--out', 'json', ...words])
  return stderr || JSON.parse(stdout)
}

test('values are stored on the host of the master, in the stores of its configuration', async () => {
  expect(await run('sdb.get', 'sdb://secrets/token')).toBe(null)
  expect(await run('sdb.set', 'sdb://secrets/token', 'abc')).toBe(true)
  expect(await run('sdb.get', 'sdb://secrets/token')).toBe('abc')
})

test('a value is made once', async () => {
  const made = await run('sdb.get_or_set_hash', 'sdb://secrets/made', '20', 'chars=xy')
  expect(made).toMatch(/^[xy]{20}$/)
  expect(await run('sdb.get_or_set_hash', 'sdb://secrets/made')).toBe(made)
})

test('what is no URI of a store is returned as it is, and a value cannot be removed', async () => {
  expect(await run('sdb.get', 'sdb://nosuch/token')).toBe('sdb://nosuch/token')
  expect(await run('sdb.delete', 'nothing')).toBe(false)
  expect(await run('sdb.delete', 'sdb://secrets/token')).toContain('cannot remove values')
})
