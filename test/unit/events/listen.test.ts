import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listenLocal } from '../../../core/events/listen.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

test('a bus stays when connections to it cannot be accepted, as with too many open files', async () => {
  const folder = await temporaryFolder('salt-listen-')
  const server = createServer()
  onTestFinished(async () => {
    server.close()
    await removeFolder(folder)
  })
  await listenLocal(server, join(folder, 'bus.ipc'), 0o600)
  const failed = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  expect(() => {
    for (const _ of [1, 2]) server.emit('error', failed)
  }).not.toThrow()
})
