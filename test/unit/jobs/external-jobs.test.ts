import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { recordJson } from '../../../core/dialect/record-json.ts'
import { ExternalJobs } from '../../../core/jobs/external-jobs.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'

const jid = '20261122075150809083'
const returners = fileURLToPath(new URL('../../fixtures/returners/', import.meta.url))

let directory: string
let outside: ExternalJobs
let warnings: string[]
beforeEach(async () => {
  directory = await temporaryFolder('salt-outside-')
  const path = join(directory, 'store')
  const options = { returner_dirs: [returners], 'folder.path': path, ext_job_cache: 'folder' }
  await writeFile(join(directory, 'master'), JSON.stringify(options))
  warnings = []
  const { config } = loadMasterConfig({ configDir: directory })
  outside = new ExternalJobs(config, { ...quietLog, warn: (text: string) => void warnings.push(text) })
})
afterEach(async () => {
  await outside.close()
  await removeFolder(directory)
})

test('a configured store that cannot be read is skipped with a warning, and read when it is up again', async () => {
  expect(await outside.returns(jid)).toEqual([])
  expect(await outside.get(jid)).toBeUndefined()
  expect((await outside.list().next()).done).toBe(true)
  expect(warnings).toEqual([
    expect.stringMatching(
      /^Jobs cannot be read from folder: ENOENT.* See: salt-run returner\.test folder\. Jobs that only this store has are missing from the list\.$/,
    ),
  ])
  await mkdir(join(directory, 'store'))
  await writeFile(join(directory, 'store', `ret ${jid} web1`), recordJson({ jid, id: 'web1', return: true }))
  expect(await outside.returns(jid)).toEqual([{ jid, id: 'web1', return: true }])
})

test('a store that is named and cannot be read is an error that says how to look at it', async () => {
  const reason = /^Jobs cannot be read from folder: ENOENT.* See: salt-run returner\.test folder\.$/
  await expect(outside.returns(jid, 'folder')).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(reason),
  })
})

test('a store that cannot return jobs is not read', async () => {
  await expect(outside.get(jid, 'local')).rejects.toThrow(
    'The returner local is write-only: jobs cannot be read from it.',
  )
})

test('all stores are closed, even if one fails to close', async () => {
  const own = join(directory, 'returners')
  const closed = join(directory, 'closed')
  await mkdir(own)
  for (const name of ['one', 'two']) await writeFile(join(own, `${name}.mjs`), failingToClose(name, closed))
  const overrides = { returner_dirs: [own] }
  const { config } = loadMasterConfig({ configDir: directory, overrides })
  const stores = new ExternalJobs(config, quietLog)
  for (const name of ['one', 'two']) await stores.get(jid, name)
  await expect(stores.close()).rejects.toThrow('2 resources failed to close')
  expect((await readFile(closed, 'utf8')).split('\n').sort().join()).toBe(',one,two')
})

/** Return a returner that notes in a file that it is closed, and fails then. */
const failingToClose = (name: string, file: string): string => `import { appendFile } from 'node:fs/promises'
export default {
  create: () => ({
    save: async () => {},
    getLoad: async () => undefined,
    close: async () => {
      await appendFile(${JSON.stringify(file)}, '${name}\\n')
      throw new Error('${name} cannot be closed.')
    },
  }),
}
`
