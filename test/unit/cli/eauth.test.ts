import { open, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { externalAuth } from '../../../core/cli/eauth.ts'
import { decode, encodeNetwork } from '../../../core/codec/index.ts'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { getTransport } from '../../../core/transport/index.ts'
import { serveRequests } from '../../../core/transport/serve-requests.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { captured } from '../../harness/terminal.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-eauth-')
})
afterEach(() => removeFolder(folder))

const configWith = (port = 1) =>
  loadMasterConfig({
    configDir: folder,
    overrides: {
      root_dir: folder,
      interface: '127.0.0.1',
      ret_port: port,
      token_file: join(folder, 'token'),
    },
  }).config

/** Run with these lines on standard input. */
async function typing<T>(lines: string, work: () => Promise<T>) {
  const stdin = vi.spyOn(process, 'stdin', 'get')
  stdin.mockReturnValue(Readable.from([lines]) as unknown as typeof process.stdin)
  try {
    return await captured(work)
  } finally {
    stdin.mockRestore()
  }
}

/** A master that makes one token, and the requests it got. */
async function tokenMaster(reply: unknown) {
  const asked: unknown[] = []
  const server = await serveRequests(getTransport('zeromq'), { host: '127.0.0.1', port: 0 })
  server.serve(async (frame) => {
    asked.push((decode(frame) as { load: unknown }).load)
    return encodeNetwork(reply)
  })
  return { asked, server }
}

describe('external authentication', () => {
  test('asks on standard error for credentials that were not typed', async () => {
    const work = () => externalAuth({ eauth: 'pam' }, configWith())
    const { result, stdout, stderr } = await typing('alice\ns3cret\n', work)
    expect(result).toEqual({ eauth: 'pam', username: 'alice', password: 's3cret' })
    expect(stderr).toBe('username: password: ')
    expect(stdout).toBe('')
  })

  test('asks for nothing that was typed', async () => {
    const flags = { eauth: 'pam', username: 'alice', password: '' }
    expect(await externalAuth(flags, configWith())).toEqual({ eauth: 'pam', username: 'alice', password: '' })
  })

  test('a created token is stored for its user only, and used', async () => {
    const { asked, server } = await tokenMaster({ token: 'abc', name: 'alice' })
    const config = configWith(server.port)
    const credentials = { eauth: 'pam', username: 'alice', password: 'x' }
    try {
      expect(await externalAuth({ ...credentials, 'make-token': true }, config)).toEqual({ token: 'abc' })
    } finally {
      await server.close()
    }
    expect(asked).toEqual([{ cmd: 'mk_token', ...credentials }])
    expect(await readFile(config.token_file, 'utf8')).toBe('abc')
    expect((await stat(config.token_file)).mode & 0o777).toBe(0o600)
  })

  test('a process that opened the token file before does not see the new token', async () => {
    const { server } = await tokenMaster({ token: 'abc' })
    const config = configWith(server.port)
    await writeFile(config.token_file, '', { mode: 0o644 })
    const other = await open(config.token_file)
    try {
      await externalAuth({ eauth: 'pam', username: 'alice', password: 'x', 'make-token': true }, config)
      expect(await other.readFile('utf8')).toBe('')
    } finally {
      await other.close()
      await server.close()
    }
    expect(await readFile(config.token_file, 'utf8')).toBe('abc')
  })

  test('a master that creates no token causes an error in a sentence', async () => {
    const { server } = await tokenMaster('')
    const flags = { eauth: 'pam', username: 'alice', password: 'x', 'make-token': true }
    try {
      await expect(externalAuth(flags, configWith(server.port))).rejects.toThrow(
        'The master refused to create a token. The password of alice is wrong, or',
      )
    } finally {
      await server.close()
    }
  })

  test('a stored token is used if a backend is named without a user, even if the user may read a key', async () => {
    await writeFile(join(folder, 'token'), 'kept')
    expect(await externalAuth({ eauth: 'pam' }, configWith(), () => false)).toEqual({ token: 'kept' })
    const typed = { eauth: 'pam', username: 'alice', password: 's3cret' }
    expect(await externalAuth(typed, configWith())).toEqual(typed)
  })

  test('a stored token is used for a user who may not read a key, until it expires', async () => {
    const config = configWith()
    expect(await externalAuth({}, config)).toBeUndefined()
    await writeFile(config.token_file, 'abc\n')
    expect(await externalAuth({}, config)).toEqual({ token: 'abc' })
    expect(await externalAuth({}, config, () => false)).toBeUndefined()
    const long = new Date(Date.now() - config.token_expire * 1000 - 1000)
    await utimes(config.token_file, long, long)
    expect(await externalAuth({}, config)).toBeUndefined()
  })
})
