/** A master that is started anew may have given its user another key, while a command has read the one before. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { currentUser } from '../../../core/base/current-user.ts'
import { LocalClient, loadMasterConfig } from '../../../core/client/index.ts'
import { publishReplies } from '../../../core/wire/publish-request.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const JOB = { tgt: 'web1', fun: 'test.ping' as const }
const [OLD, NEW] = [`${'a'.repeat(75)}=`, `${'b'.repeat(75)}=`]

let root: string
let asked: unknown[]
beforeEach(async () => {
  root = await temporaryFolder('salt-ts-renewed-')
  asked = []
})
afterEach(() => removeFolder(root))

/** Of a master that knows the new key; `onAsked` is called before it answers. */
async function open(onAsked: () => Promise<void>) {
  const user = currentUser()
  const { config } = loadMasterConfig({ configDir: root, overrides: { root_dir: root, user } })
  const file = join(config.cachedir, `.${user}_key`)
  await mkdir(config.cachedir, { recursive: true })
  await writeFile(file, OLD)
  const ask = async ({ key }: { key: string }) => {
    asked.push(key)
    await onAsked()
    if (key === NEW)
      return publishReplies.published('20261122000000000001', { minions: ['web1'], missing: [] })
    return publishReplies.failed('AuthenticationError', 'Authentication error occurred.')
  }
  return { client: new LocalClient(config, { ask, events: {} } as never), file }
}

test('a request that the master refuses is sent once more with the new key', async () => {
  const { client, file } = await open(() => writeFile(file, NEW))
  expect((await client.runJob(JOB)).jid).toBe('20261122000000000001')
  expect(asked).toEqual([OLD, NEW])
})

test('a refused request is not sent again with the same key, or without one', async () => {
  const same = await open(async () => {})
  await expect(same.client.runJob(JOB)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' })
  const gone = await open(() => rm(gone.file, { force: true }))
  await expect(gone.client.runJob(JOB)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' })
  expect(asked).toEqual([OLD, OLD])
})
