import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import SaltKey from '../../../../core/cli/commands/salt-key.ts'
import { exitCodeFrom } from '../../../../core/cli/program/program.ts'
import { fingerprint, PrivateKey, PublicKey } from '../../../../core/crypto/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { captured } from '../../../harness/terminal.ts'

const pem = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).publicKey

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-key-')
  await writeFile(
    join(folder, 'master'),
    `root_dir: ${folder}\npki_dir: /pki\ncachedir: /cache\nsock_dir: /run\n`,
  )
  await mkdir(join(folder, 'cache'))
  for (const state of ['minions', 'minions_pre', 'minions_rejected', 'minions_denied']) {
    await mkdir(join(folder, 'pki', state), { recursive: true })
  }
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const file = (state: string, id: string, text = pem) => writeFile(join(folder, 'pki', state, id), text)
const ids = (state: string) => readdir(join(folder, 'pki', state))
const key = (...argv: string[]) => captured(() => exitCodeFrom(SaltKey, ['-c', folder, ...argv]))

/** The output for a pending key that is accepted. */
const accepting = (id: string) =>
  `The following keys are going to be accepted:\nUnaccepted Keys:\n${id}\nKey for minion ${id} accepted.\n`

/** Run with this text on standard input. */
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
  test('accepting shows the keys and asks; an empty line is yes', async () => {
    await file('minions_pre', 'web01')
    const { result, stdout, stderr } = await answered('\n', '-a', 'web*')
    expect(stderr).toBe('Proceed? [n/Y] ')
    expect([stdout, result]).toEqual([accepting('web01'), 0])
  })

  test('deleting asks as well; an empty line is no', async () => {
    await file('minions', 'web01')
    const { result, stdout, stderr } = await answered('\n', '-d', 'web01')
    expect(stderr).toBe('Proceed? [N/y] ')
    expect([stdout, result]).toEqual([
      'The following keys are going to be deleted:\nAccepted Keys:\nweb01\n',
      1,
    ])
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

  test('with --out the keys are shown on standard error', async () => {
    await file('minions_pre', 'web01')
    const { stdout, stderr } = await answered('y\n', '-a', 'web01', '--out=json', '--out-indent=-1')
    expect(stderr).toBe(
      'The following keys are going to be accepted:\nminions_pre:\n    web01\nProceed? [n/Y] ',
    )
    expect(stdout).toBe('{"minions": ["web01"]}\n')
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

  test('accepts only the keys that match a pattern', async () => {
    await file('minions_pre', 'web01')
    await file('minions_pre', 'db01')
    const { result, stdout } = await key('-y', '-a', 'web*')
    expect(stdout).toBe(accepting('web01'))
    expect(result).toBe(0)
    expect(await ids('minions')).toEqual(['web01'])
    expect(await ids('minions_pre')).toEqual(['db01'])
  })

  test('several patterns are separated by commas, and no key is matched twice', async () => {
    for (const id of ['web01', 'db01', 'mail']) await file('minions_pre', id)
    const { stdout } = await key('-y', '-a', 'web*,db01,*01', '--out=json', '--out-indent=-1')
    expect(stdout).toBe('{"minions": ["db01", "web01"]}\n')
    expect(await ids('minions_pre')).toEqual(['mail'])
  })

  test.each([
    [['-a', 'nosuch'], "The key glob 'nosuch' does not match any unaccepted keys.\n"],
    [
      ['-d', 'nosuch'],
      "The key glob 'nosuch' does not match any unaccepted, accepted, rejected or denied keys.\n",
    ],
    [
      ['-r', 'nosuch', '--include-accepted'],
      "The key glob 'nosuch' does not match any unaccepted or accepted keys.\n",
    ],
    [['-p', 'nosuch'], "The key glob 'nosuch' does not match any keys.\n"],
    [['-f', 'nosuch'], "The key glob 'nosuch' does not match any keys.\n"],
  ])('%j for a key that does not exist is exit code 2', async (argv, said) => {
    expect(await key('-y', ...argv)).toMatchObject({ stdout: '', stderr: said, result: 2 })
  })

  test('-A, -R, -D and -P without any keys succeed', async () => {
    for (const all of ['-A', '-R', '-D', '-P']) expect((await key('-y', all)).result).toBe(0)
  })

  test.each([
    ['-F', 'master'],
    ['-f', 'web01', 'web02'],
  ])('%s %s: fingerprints are shown whatever further words there are, as in Salt', async (...words) => {
    await file('minions', 'web01')
    const { stdout, stderr, result } = await key(...words)
    expect([stderr, result]).toEqual(['', 0])
    expect(stdout).toContain(`web01:  ${fingerprint(pem, 'sha256')}`)
    expect(stdout).not.toContain('web02')
  })

  test.each([
    [['-L', 'web01'], "salt-key takes no arguments, but was given 'web01'."],
    [['-a', 'x', 'web01', 'web02'], "salt-key takes no arguments, but was given 'web01 web02'."],
    [['-a', 'x', '-d', 'x'], '--accept and --delete cannot be given together'],
    [['-L', '-A'], '--list-all and --accept-all cannot be given together'],
    [['-l', 'bogus'], "-l takes accepted, unaccepted, rejected, denied or all, not 'bogus'"],
    [['--gen-keys', 'x', '--keysize', '1024'], '--keysize needs a number from 2048 to 8192, not 1024'],
    [['-a', 'x', '--ttl', '1h'], '--ttl needs --invite'],
    [['--invite', '--ttl', 'soon'], '--ttl needs a time such as 90s'],
    [['--invite', '--uses', '0'], '--uses needs a whole number from 1'],
    [['--eauth', 'pam', '--invite'], '--invite works on local files only; leave out --eauth'],
    [
      ['-L', '--eauth', 'pam', '--username', 'ann', '--password', 'x', '--preserve-minions', 'True'],
      'With --eauth the configuration of the master applies',
    ],
  ])('%j is refused with a sentence', async (argv, said) => {
    const { result, stdout, stderr } = await key(...argv)
    expect([result, stdout]).toEqual([64, ''])
    expect(stderr).toContain(said)
  })

  test('rejecting or deleting an accepted key asks for a new AES key', async () => {
    await file('minions', 'web01')
    await key('-y', '-r', 'web01', '--include-accepted')
    expect(await ids('minions_rejected')).toEqual(['web01'])
    expect(await readdir(join(folder, 'cache'))).toContain('.dfn')
  })

  test('deleting a key that was never accepted does not', async () => {
    await file('minions_pre', 'web01')
    expect((await key('-y', '-d', 'web01')).stdout).toContain('Key for minion web01 deleted.\n')
    expect(await ids('minions_pre')).toEqual([])
    expect(await readdir(join(folder, 'cache'))).not.toContain('.dfn')
  })

  test('a key that cannot be read is not accepted', async () => {
    await file('minions_pre', 'web01', 'no key')
    const { result, stderr, stdout } = await key('-y', '-a', 'web01')
    expect(stderr).toContain('The key of web01 cannot be read as an RSA public key')
    expect(stdout).not.toContain('Key for minion')
    expect(result).toBe(1)
    expect(await ids('minions_pre')).toEqual(['web01'])
  })

  test('-q prints nothing about changes, --out prints them as data', async () => {
    await file('minions_pre', 'web01')
    await file('minions_pre', 'web02')
    expect((await key('-y', '-q', '-a', 'web01')).stdout).toBe('')
    const { stdout } = await key('-y', '-a', 'web02', '--out', 'json', '--out-indent', '-1')
    expect(stdout).toBe('{"minions": ["web02"]}\n')
  })

  test('keys in other states are included only on request', async () => {
    await file('minions_rejected', 'web01')
    expect((await key('-y', '-a', 'web01')).result).toBe(2)
    expect((await key('-y', '-a', 'web01', '--include-rejected')).result).toBe(0)
    expect(await ids('minions')).toEqual(['web01'])
    expect((await key('-y', '-R')).result).toBe(0)
    expect(await ids('minions')).toEqual(['web01'])
    expect((await key('-y', '-D')).stdout).toContain('Key for minion web01 deleted.\n')
  })

  test('prints keys and fingerprints', async () => {
    await file('minions', 'web01')
    expect((await key('-p', 'web01')).stdout).toBe(`Accepted Keys:\nweb01:  ${pem.trim()}\n`)
    expect((await key('-f', 'web01')).stdout).toMatch(
      /^Accepted Keys:\nweb01: {2}(?:[0-9a-f]{2}:){31}[0-9a-f]{2}\n$/,
    )
  })

  test('fingerprints of the master are shown for all its key files', async () => {
    await file('.', 'master.pub')
    await file('.', 'master_sign.pub')
    expect((await key('-f', 'master*')).stdout).toMatch(
      /^Local Keys:\nmaster\.pub: {2}[0-9a-f:]{95}\nmaster_sign\.pub: {2}[0-9a-f:]{95}\n$/,
    )
  })

  test('makes a key pair, and does not replace an existing one', SLOW, async () => {
    const made = await key('--gen-keys', 'web01', '--gen-keys-dir', join(folder, 'made'))
    expect(made).toMatchObject({ result: 0, stdout: expect.stringMatching(/^return:\n {4}[0-9a-f:]{95}\n$/) })
    const path = join(folder, 'made', 'web01.pem')
    expect((await stat(path)).mode & 0o777).toBe(0o400)
    const again = await key('--gen-keys', 'web01', '--gen-keys-dir', join(folder, 'made'))
    expect(again).toMatchObject({ result: 0, stdout: made.stdout })
    expect(again.stderr).toContain(`${path} exists already`)
  })

  test('signs the master key for hosts without the signing key', SLOW, async () => {
    expect((await key('--gen-signature')).stderr).toContain('does not exist. Start the master once')
    await file('.', 'master.pub')
    expect((await key('--gen-signature')).stderr).toContain('--auto-create makes one')
    const { result, stdout } = await key('--gen-signature', '--auto-create')
    expect([result, stdout]).toEqual([0, 'return:\n    True\n'])
    expect((await key('--gen-signature')).result).toBe(0) // the same again
    const signing = PublicKey.parse(await readFile(join(folder, 'pki', 'master_sign.pub'), 'utf8'))
    const signature = await readFile(join(folder, 'pki', 'master_pubkey_signature'), 'utf8')
    expect(signing.verify(Buffer.from(pem.trim()), Buffer.from(signature, 'base64'), 'PKCS1v15-SHA1')).toBe(
      true,
    )
  })

  test('signs another key with another one, and does not replace a foreign signature', SLOW, async () => {
    await file('.', 'master.pub')
    const made = await PrivateKey.generate(2048)
    await file('.', 'other.pem', made.pem)
    await file('.', 'other.pub', made.publicKey.pem)
    const [priv, pub] = ['other.pem', 'other.pub'].map((name) => join(folder, 'pki', name)) as [
      string,
      string,
    ]
    expect((await key('--gen-signature', '--priv', priv)).result).toBe(0)
    const { result, stderr } = await key('--gen-signature', '--priv', priv, '--pub', pub)
    expect([result, stderr]).toEqual([1, expect.stringContaining('is not overwritten. Remove it first')])
    expect(
      (await key('--gen-signature', '--priv', priv, '--pub', pub, '--signature-path', folder)).result,
    ).toBe(0)
  })
})

describe('accepting a denied key', () => {
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    type: 'spki',
    format: 'pem',
  })
  beforeEach(async () => {
    await file('minions', 'web01')
    await file('minions_denied', 'web01', String(other))
  })
  const accepted = () => readFile(join(folder, 'pki', 'minions', 'web01'), 'utf8')

  test('shows both fingerprints and asks; an empty line is no', async () => {
    const { result, stderr } = await answered('\n', '-a', 'web01', '--include-denied')
    expect(stderr).toContain(
      `    accepted  ${fingerprint(pem, 'sha256')}\n    denied    ${fingerprint(String(other), 'sha256')}\n`,
    )
    expect(stderr).toMatch(/Proceed\? \[N\/y\] $/)
    expect([result, await accepted()]).toEqual([1, pem])
  })

  test.each([['-y'], ['-y', '--include-all'], ['-y', '--include-rejected']])(
    '%j is not enough',
    async (...argv) => {
      expect((await key('-a', 'web01', ...argv)).result).toBe(2)
      expect(await accepted()).toBe(pem)
    },
  )

  test('with --include-denied -y is enough; it replaces every other key of that id, and the AES key is changed', async () => {
    await file('minions_pre', 'web01')
    await file('minions_rejected', 'web01')
    const { result, stderr } = await key('-y', '-a', 'web01', '--include-denied')
    expect([result, await accepted()]).toEqual([0, String(other)])
    expect(stderr).toContain('replaces another')
    for (const state of ['minions_pre', 'minions_rejected', 'minions_denied'])
      expect(await ids(state)).toEqual([])
    expect(await readdir(join(folder, 'cache'))).toContain('.dfn')
  })
})

describe('the audit log', () => {
  const path = () => join(folder, 'var/log/salt/key-audit.log')
  const lines = async () =>
    (await readFile(path(), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  test('has a line for each change: user, time, old state, key, program', async () => {
    vi.stubEnv('SUDO_USER', 'alice')
    await file('minions_pre', 'web01')
    await key('-y', '-a', 'web01')
    await key('-y', '-d', 'web01')
    const common = {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      user: userInfo().username,
      sudo_user: 'alice',
      id: 'web01',
      fingerprint: fingerprint(pem, 'sha256'),
      by: 'salt-key',
    }
    expect(await lines()).toEqual([
      { ...common, act: 'accept', from: 'pending', to: 'accepted' },
      { ...common, act: 'delete', from: 'accepted' },
    ])
    expect((await stat(path())).mode & 0o777).toBe(0o600)
  })

  test('that cannot be written prevents no change, and causes a warning', async () => {
    await mkdir(join(folder, 'var/log/salt'), { recursive: true })
    await symlink('/dev/null', path())
    await file('minions_pre', 'web01')
    const { result, stderr } = await key('-y', '-a', 'web01')
    expect(stderr).toMatch(/^Done, but not written to the key audit log \(key_audit_log\): accept web01: /)
    expect([result, await ids('minions')]).toEqual([0, ['web01']])
  })
})

describe('invitations', () => {
  test('are printed as one line, listed without it, and revoked', SLOW, async () => {
    const made = await key('--invite', '--ttl', '2h', '--match', 'web*', '--uses', '3')
    expect(made.stdout).toMatch(/^[0-9a-f]{48}\.[0-9a-f]{64}\n$/)
    const listed = JSON.parse((await key('--invites', '--out=json')).stdout)
    const [id] = Object.keys(listed) as [string]
    expect(listed[id]).toMatchObject({ match: 'web*', left: 3 })
    expect(Date.parse(listed[id].expires) - Date.parse(listed[id].made)).toBe(7_200_000)
    expect((await key('--revoke-invite', id)).result).toBe(0)
    expect((await key('--revoke-invite', id)).result).toBe(2)
    expect((await key('--invites', '--out=json')).stdout).toBe('{}\n')
  })

  test('leave nothing on disk with which a minion could join', SLOW, async () => {
    const secret = (await key('--invite')).stdout.split('.')[0] as string
    const stored = await readFile(join(folder, 'pki', 'invites.mdb'))
    expect((await stat(join(folder, 'pki', 'invites.mdb'))).mode & 0o077).toBe(0)
    expect(stored.includes(secret)).toBe(false)
    expect(stored.includes(Buffer.from(secret, 'hex'))).toBe(false)
    expect(stored.includes('verifier')).toBe(true)
  })
})

describe('a damaged key file', () => {
  beforeEach(async () => {
    await file('minions', 'web1')
    await mkdir(join(folder, 'pki', 'minions', 'zz'))
    await file('minions_pre', 'web2', '')
  })

  test('is named after the list of keys', async () => {
    const { stdout, stderr, result } = await key('-L')
    expect([stdout, result]).toEqual([expect.stringMatching(/web1\nzz\n.*web2/s), 0])
    expect(stderr).toContain(
      `${join(folder, 'pki/minions/zz')} is a folder, not a regular file. Restore it from a backup, or`,
    )
    expect(stderr).toContain(`${join(folder, 'pki/minions_pre/web2')} is empty. Restore it`)
  })

  test('is named among the fingerprints, and among the keys', async () => {
    const damages = { zz: `${join(folder, 'pki/minions/zz')} is a folder, not a regular file` }
    const fingers = JSON.parse((await key('-F', '--out', 'json')).stdout)
    expect(fingers.minions).toEqual({ web1: fingerprint(pem, 'sha256'), ...damages })
    expect(fingers.minions_pre).toEqual({ web2: `${join(folder, 'pki/minions_pre/web2')} is empty` })
    expect(JSON.parse((await key('-P', '--out', 'json')).stdout).minions).toEqual({ web1: pem, ...damages })
  })

  test('is deleted like a key', async () => {
    expect((await key('-y', '-d', '*')).result).toBe(0)
    expect(await ids('minions')).toEqual([])
  })
})
