import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimSocketPath, parseLocalAddress } from '../../../core/transport/local-address.ts'

describe('a local address', () => {
  it.each([
    ['/run/salt/workers.ipc', { path: '/run/salt/workers.ipc' }],
    ['ipc:///run/salt/workers.ipc', { path: '/run/salt/workers.ipc' }],
    ['tcp://127.0.0.1:4515', { host: '127.0.0.1', port: 4515 }],
    ['tcp://[::1]:4515', { host: '::1', port: 4515 }],
  ])('%s is understood', (text, address) => {
    expect(parseLocalAddress(text)).toEqual(address)
  })

  it('that is too long for a socket is refused, with the option to change', () => {
    expect(() => parseLocalAddress(`/${'ä'.repeat(60)}`)).toThrow(/sock_dir/)
  })
})

describe('claiming a socket path', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'claim-'))
    path = join(directory, 's.ipc')
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('does nothing when nothing is there', async () => {
    await claimSocketPath(path)
  })

  it('refuses one that somebody listens on', async () => {
    const server = createServer().listen(path)
    await expect(claimSocketPath(path)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
    server.close()
  })

  it('refuses what is no socket, and leaves it', async () => {
    await writeFile(path, 'precious')
    await expect(claimSocketPath(path)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect((await stat(path)).size).toBe(8)
  })

  it('says when the directory is missing', async () => {
    await expect(claimSocketPath(join(directory, 'no', 's.ipc'))).rejects.toThrow(/no directory/)
  })
})
