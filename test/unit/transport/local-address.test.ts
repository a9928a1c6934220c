import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimSocketPath, parseLocalAddress } from '../../../core/transport/local-address.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

describe('a local address', () => {
  test.each([
    ['/run/salt/workers.ipc', { path: '/run/salt/workers.ipc' }],
    ['ipc:///run/salt/workers.ipc', { path: '/run/salt/workers.ipc' }],
    ['tcp://127.0.0.1:4515', { host: '127.0.0.1', port: 4515 }],
    ['tcp://[::1]:4515', { host: '::1', port: 4515 }],
  ])('%s is parsed', (text, address) => {
    expect(parseLocalAddress(text)).toEqual(address)
  })

  test('that is too long for a socket is refused, with the option to change', () => {
    expect(() => parseLocalAddress(`/${'ä'.repeat(60)}`)).toThrow(/sock_dir/)
  })
})

describe('claiming a socket path', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await temporaryFolder('claim-')
    path = join(directory, 's.ipc')
  })
  afterEach(() => removeFolder(directory))

  test('does nothing when nothing is there', async () => {
    await claimSocketPath(path)
  })

  test('refuses a path that a process listens on', async () => {
    const server = createServer().listen(path)
    await expect(claimSocketPath(path)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
    server.close()
  })

  test('refuses a file that is no socket, and keeps it', async () => {
    await writeFile(path, 'precious')
    await expect(claimSocketPath(path)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect((await stat(path)).size).toBe(8)
  })

  test('reports a missing directory', async () => {
    await expect(claimSocketPath(join(directory, 'no', 's.ipc'))).rejects.toThrow(
      /^The directory of the socket .* does not exist/,
    )
  })
})
