import { generateKeyPairSync } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import SaltKey from '../../../core/cli/commands/salt-key.ts'
import { outcomeOf } from '../../../core/cli/program.ts'
import { captured } from '../../harness/terminal.ts'

const pem = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).publicKey

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-key-'))
  await writeFile(
    join(folder, 'master'),
    `root_dir: ${folder}\npki_dir: /pki\ncachedir: /cache\nsock_dir: /run\n`,
  )
  await mkdir(join(folder, 'cache'))
  for (const state of ['minions', 'minions_pre', 'minions_rejected', 'minions_denied']) {
    await mkdir(join(folder, 'pki', state), { recursive: true })
  }
})
afterEach(() => rm(folder, { recursive: true }))

const file = (state: string, id: string, text = pem) => writeFile(join(folder, 'pki', state, id), text)
const ids = (state: string) => readdir(join(folder, 'pki', state))
const key = (...argv: string[]) => captured(() => outcomeOf(SaltKey, ['-c', folder, ...argv]))

/** With somebody who types this. */
async function answered(typed: string, ...argv: string[]) {
  const stdin = vi.spyOn(process, 'stdin', 'get')
  stdin.mockReturnValue(Readable.from([typed]) as unknown as typeof process.stdin)
  try {
    return await key(...argv)
  } finally {
    stdin.mockRestore()
  }
}

describe('questions of salt-key', () => {
  test('accepting asks with the keys it means; an empty line is yes', async () => {
    await file('minions_pre', 'web01')
    const { result, stdout, stderr } = await answered('\n', '-a', 'web*')
    expect(stderr).toBe(
      'The following keys are going to be accepted:\nminions_pre:\n    web01\nProceed? [n/Y] ',
    )
    expect([stdout, result]).toEqual(['Key for minion web01 accepted.\n', 0])
  })

  test('deleting asks as well; an empty line is no', async () => {
    await file('minions', 'web01')
    const { result, stdout, stderr } = await answered('\n', '-d', 'web01')
    expect(stderr).toMatch(/going to be deleted:\nminions:\n {4}web01\nProceed\? \[N\/y\] $/)
    expect([stdout, result]).toEqual(['', 1])
    expect(await ids('minions')).toEqual(['web01'])
  })

  test.each([
    ['y\n', []],
    ['Yes\n', []],
    ['n\n', ['web01']],
    ['whatever\n', ['web01']],
    ['', ['web01']],
  ])('the answer %j leaves the keys %j', async (typed, left) => {
    await file('minions_pre', 'web01')
    await answered(typed, '-r', 'web01')
    expect(await ids('minions_pre')).toEqual(left)
    await file('minions', 'web01')
    await answered(typed, '-d', 'web01')
    expect(await ids('minions')).toEqual(left)
  })

  test('-y asks nothing', async () => {
    await file('minions_pre', 'web01')
    const { result, stderr } = await answered('n\n', '-y', '-A')
    expect([stderr, result]).toEqual(['', 0])
    expect(await ids('minions')).toEqual(['web01'])
  })
})

describe('salt-key', () => {
  test('lists keys by state', async () => {
    await file('minions', 'web01')
    await file('minions_pre', 'web02')
    expect((await key('-L')).stdout).toBe(
      'Accepted Keys:\nweb01\nDenied Keys:\nUnaccepted Keys:\nweb02\nRejected Keys:\n',
    )
    expect((await key('-l', 'un', '--out', 'json', '--out-indent', '-1')).stdout).toBe(
      '{"minions_pre": ["web02"]}\n',
    )
  })

  test('accepts what a pattern means, and only that', async () => {
    await file('minions_pre', 'web01')
    await file('minions_pre', 'db01')
    const { result, stdout } = await key('-y', '-a', 'web*')
    expect(stdout).toBe('Key for minion web01 accepted.\n')
    expect(result).toBe(0)
    expect(await ids('minions')).toEqual(['web01'])
    expect(await ids('minions_pre')).toEqual(['db01'])
  })

  test('a pattern that means nothing is exit code 1; all of none is fine', async () => {
    const { result, stderr } = await key('-y', '-a', 'nosuch')
    expect(stderr).toBe("The key glob 'nosuch' does not match any unaccepted keys.\n")
    expect(result).toBe(1)
    expect((await key('-y', '-A')).result).toBe(0)
    expect((await key('-p', 'nosuch')).result).toBe(1)
  })

  test('rejecting or deleting an accepted key asks for a new AES key', async () => {
    await file('minions', 'web01')
    await key('-y', '-r', 'web01', '--include-accepted')
    expect(await ids('minions_rejected')).toEqual(['web01'])
    expect(await readdir(join(folder, 'cache'))).toContain('.dfn')
  })

  test('deleting a key that was never accepted does not', async () => {
    await file('minions_pre', 'web01')
    expect((await key('-y', '-d', 'web01')).stdout).toBe('Key for minion web01 deleted.\n')
    expect(await ids('minions_pre')).toEqual([])
    expect(await readdir(join(folder, 'cache'))).not.toContain('.dfn')
  })

  test('a key that cannot be read is not accepted', async () => {
    await file('minions_pre', 'web01', 'no key')
    const { result, stderr, stdout } = await key('-y', '-a', 'web01')
    expect(stderr).toContain('The key of web01 cannot be read as an RSA public key')
    expect(stdout).toBe('')
    expect(result).toBe(1)
  })

  test('-q says nothing of what was done, --out gives it as data', async () => {
    await file('minions_pre', 'web01')
    await file('minions_pre', 'web02')
    expect((await key('-y', '-q', '-a', 'web01')).stdout).toBe('')
    const { stdout } = await key('-y', '-a', 'web02', '--out', 'json', '--out-indent', '-1')
    expect(stdout).toBe('{"minions": ["web02"]}\n')
  })

  test('keys of other states are meant only where that is said', async () => {
    await file('minions_rejected', 'web01')
    expect((await key('-y', '-a', 'web01')).result).toBe(1)
    expect((await key('-y', '-a', 'web01', '--include-rejected')).result).toBe(0)
    expect(await ids('minions')).toEqual(['web01'])
    expect((await key('-y', '-R')).result).toBe(0)
    expect(await ids('minions')).toEqual(['web01'])
    expect((await key('-y', '-D')).stdout).toBe('Key for minion web01 deleted.\n')
  })

  test('prints keys and fingerprints', async () => {
    await file('minions', 'web01')
    expect((await key('-p', 'web01')).stdout).toBe(`Accepted Keys:\nweb01:  ${pem.trim()}\n`)
    expect((await key('-f', 'web01')).stdout).toMatch(
      /^Accepted Keys:\nweb01: {2}(?:[0-9a-f]{2}:){31}[0-9a-f]{2}\n$/,
    )
  })

  test('signs the master key for hosts without the signing key', async () => {
    expect((await key('--gen-signature')).result).toBe(1)
    const { result, stdout } = await key('--gen-signature', '--auto-create')
    expect(result).toBe(0)
    expect(stdout).toBe(`${join(folder, 'pki', 'master_pubkey_signature')}\n`)
  })
})
