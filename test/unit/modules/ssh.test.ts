import { execFileSync } from 'node:child_process'
import { chmod, chown, link, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as ssh from '../../../modules/ssh.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program, ROOT } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { commandContext } from './commands.ts'
import { type AnyFn, call } from './context.ts'
import { stubProgram } from './stub.ts'

let folder: string
let config: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-ssh-')
  config = join(folder, 'keys', 'authorized_keys')
})
afterEach(() => removeFolder(folder))

const user = userInfo().username
const context = (source = '') => commandContext({ 'cp.cache_file': () => source })
const ask = (fn: AnyFn, given: object, of = context()) => call(fn, given as Record<string, unknown>, of)
const [one, other] = ['AAAAB3NzaC1yc2EA', 'AAAAC3NzaC1lZDI1']

describe('Keys of users', () => {
  const set = (key: string, more: object = {}) => ask(ssh.set_auth_key, { user, key, config, ...more })

  test('are added, replaced, listed and removed', async () => {
    expect(await set(one, { comment: 'me' })).toBe('new')
    expect((await stat(config)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o700)
    expect(await set(one, { comment: 'me' })).toBe('no change')
    expect(await set(other, { enc: 'ed25519', options: ['no-pty', 'from="a b"'] })).toBe('new')
    expect(await set(one, { comment: 'you' })).toBe('replace')
    expect(await readFile(config, 'utf8')).toBe(
      `ssh-rsa ${one} you\nno-pty,from="a b" ssh-ed25519 ${other} \n`,
    )
    expect(await ask(ssh.auth_keys, { user, config })).toEqual({
      [one]: {
        enc: 'ssh-rsa',
        comment: 'you',
        options: [],
        fingerprint: expect.stringMatching(/^(..:){31}..$/),
      },
      [other]: expect.objectContaining({ options: ['no-pty', 'from="a b"'] }),
    })
    expect(await ask(ssh.rm_auth_key, { user, key: one, config })).toBe('Key removed')
    expect(await ask(ssh.rm_auth_key, { user, key: one, config })).toBe('Key not present')
  })

  test('are checked before they are set', async () => {
    await set(one, { comment: 'me' })
    const check = (key: string, comment: string) =>
      ask(ssh.check_key, { user, key, enc: 'rsa', comment, options: [], config })
    expect(await check(one, 'me')).toBe('exists')
    expect(await check(one, 'you')).toBe('update')
    expect(await check(other, 'me')).toBe('add')
    const unknown = { user, key: other, enc: 'x', comment: '', options: [], config }
    await expect(ask(ssh.check_key, unknown)).rejects.toThrow("Incorrect encryption key type 'x'.")
  })

  test('leave all other lines as they are', async () => {
    await mkdir(join(folder, 'keys'))
    const kept = '# ours\n\ncert-authority future-type AAAA x\n'
    await writeFile(config, `${kept}ssh-rsa ${one} me`)
    await chmod(config, 0o640)
    await set(other, { enc: 'ssh-ed25519' })
    expect(await readFile(config, 'utf8')).toBe(`${kept}ssh-rsa ${one} me\nssh-ed25519 ${other} \n`)
    await ask(ssh.rm_auth_key, { user, key: one, config })
    expect(await readFile(config, 'utf8')).toBe(`${kept}ssh-ed25519 ${other} \n`)
    expect((await stat(config)).mode & 0o777).toBe(0o640)
  })

  test('come from a file of the file server', async () => {
    const source = join(folder, 'source')
    await writeFile(source, `ssh-rsa ${one} a\nno-pty ssh-ed25519 ${other} b c\n`)
    const given = { user, source: 'salt://keys', config }
    expect(await ask(ssh.check_key_file, given, context(source))).toEqual({ [one]: 'add', [other]: 'add' })
    expect(await ask(ssh.set_auth_key_from_file, given, context(source))).toBe('new')
    expect(await ask(ssh.set_auth_key_from_file, given, context(source))).toBe('no change')
    expect(await ask(ssh.rm_auth_key_from_file, given, context(source))).toBe('Key removed')
    expect(await ask(ssh.rm_auth_key_from_file, given, context(source))).toBe('Key not present')
    await writeFile(source, 'nothing\n')
    const empty = context(source)
    expect(await ask(ssh.set_auth_key_from_file, given, empty)).toBe('fail')
    expect(empty.lines[0]?.message).toBe('No keys detected in salt://keys. Is file properly formatted?')
    await expect(ask(ssh.set_auth_key_from_file, given)).rejects.toThrow('Failed to pull key file')
    await expect(ask(ssh.check_key_file, given, context('/none'))).rejects.toThrow(
      'Problem reading ssh key file /none',
    )
  })

  test('that are invalid, of users who do not exist, or outside of their home folder are refused', async () => {
    expect(await set('two words')).toBe('invalid')
    expect(await set('AAA!')).toBe('Invalid public key')
    expect(await set(one, { user: 'nosuchuser' })).toBe('fail')
    await expect(set(one, { enc: 'x' })).rejects.toThrow("Incorrect encryption key type 'x'.")
    await expect(set(one, { config: '%x' })).rejects.toThrow('unknown token character "%x"')
    await expect(set(one, { fingerprint_hash_type: 'x' })).rejects.toThrow('fingerprint_hash_type x is not')
    const foreign = process.getuid?.() === 0 ? join(folder, 'foreign') : '/'
    if (foreign !== '/') {
      await mkdir(foreign)
      await chown(foreign, 65534, 65534)
    }
    await symlink(foreign, join(folder, 'keys'))
    await expect(set(one)).rejects.toThrow('what does not belong')
  })

  test('of the user are read from their files', async () => {
    const pubfile = join(folder, 'id_x.pub')
    await writeFile(pubfile, `ssh-rsa ${one}\n`)
    expect(await ask(ssh.user_keys, { user, pubfile, prvfile: false })).toEqual({
      [user]: { 'id_x.pub': `ssh-rsa ${one}` },
    })
    expect(await ask(ssh.user_keys, { user: ['nosuchuser'] })).toEqual({})
  })

  test('of the host are read by type', async () => {
    for (const name of [
      'ssh_host_rsa_key',
      'ssh_host_rsa_key.pub',
      'ssh_host_rsa_key-cert.pub',
      'sshd_config',
    ])
      await writeFile(join(folder, name), `${name}\n`)
    const all = {
      rsa: 'ssh_host_rsa_key',
      'rsa.pub': 'ssh_host_rsa_key.pub',
      'rsa-cert.pub': 'ssh_host_rsa_key-cert.pub',
    }
    expect(await ask(ssh.host_keys, { keydir: folder })).toEqual(all)
    expect(await ask(ssh.host_keys, { keydir: folder, private: false, certs: false })).toEqual({
      'rsa.pub': 'ssh_host_rsa_key.pub',
    })
    await expect(ask(ssh.host_keys, { keydir: join(folder, 'none') })).rejects.toThrow(
      'cannot be read: ENOENT',
    )
  })
})

describe('Known hosts', needs(program('ssh-keygen')), () => {
  let file: string
  let key: string
  beforeEach(() => {
    file = join(folder, 'known_hosts')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'k')])
    key = execFileSync('cut', ['-d ', '-f2', join(folder, 'k.pub')], { encoding: 'utf8' }).trim()
  })
  const given = (more: object = {}) => ({ config: file, hostname: 'web1', ...more })
  const set = (more: object) =>
    ask(ssh.set_known_host, given({ enc: 'ssh-ed25519', hash_known_hosts: false, ...more }))

  test('are stored with their key, found, hashed and removed', SLOW, async () => {
    expect(await ask(ssh.check_known_host, given())).toBe('add')
    expect(await set({ key })).toMatchObject({
      status: 'updated',
      old: null,
      new: [{ hostname: 'web1', key }],
    })
    expect(await readFile(file, 'utf8')).toBe(`web1 ssh-ed25519 ${key}\n`)
    expect(await set({ key })).toEqual({ status: 'exists', keys: [key] })
    expect(await ask(ssh.check_known_host, given({ key }))).toBe('exists')
    expect(await ask(ssh.check_known_host, given({ key: 'x' }))).toBe('update')
    expect(await ask(ssh.hash_known_hosts, { config: file })).toMatchObject({ status: 'updated' })
    expect(await readFile(file, 'utf8')).toMatch(/^\|1\|/)
    expect(await ask(ssh.get_known_host_entries, given({ user: '' }))).toEqual([
      expect.objectContaining({ key, enc: 'ssh-ed25519', fingerprint: expect.any(String) }),
    ])
    expect(await ask(ssh.rm_known_host, given())).toMatchObject({ status: 'removed' })
    expect(await ask(ssh.get_known_host_entries, given({ user: '' }))).toBeNull()
  })

  test('leave an empty file when the last one is removed', async () => {
    await writeFile(file, `web1 ssh-rsa ${one}\n`)
    expect(await ask(ssh.rm_known_host, given())).toMatchObject({ status: 'removed' })
    expect(await readFile(file, 'utf8')).toBe('')
  })

  test('are replaced, and others stay', SLOW, async () => {
    await writeFile(file, `db1 ssh-rsa ${one}\nweb1 ssh-ed25519 ${other}\nweb1 ssh-rsa ${one}\n`)
    expect(await set({ key })).toMatchObject({ status: 'updated', old: [{ key: other }, { key: one }] })
    expect(await readFile(file, 'utf8')).toBe(
      `db1 ssh-rsa ${one}\nweb1 ssh-rsa ${one}\nweb1 ssh-ed25519 ${key}\n`,
    )
    expect(await set({ key, port: 2222 })).toMatchObject({ new: [{ hostname: 'web1', port: 2222, key }] })
    expect(await readFile(file, 'utf8')).toContain(`[web1]:2222 ssh-ed25519 ${key}\n`)
  })

  test('are asked for their keys, which must have the fingerprint (recorded)', async () => {
    const scan = `#!/bin/sh\necho '# web1:22 SSH-2.0' >&2\necho "web1 ssh-ed25519 ${key}"\n`
    await writeFile(join(folder, 'ssh-keyscan'), scan, { mode: 0o755 })
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
    try {
      const [seen] = (await ask(ssh.recv_known_host_entries, { hostname: 'web1' })) as {
        fingerprint: string
      }[]
      expect(await set({ fingerprint: '00' })).toMatchObject({
        error: expect.stringContaining('none of their'),
      })
      expect(await set({ fingerprint: seen?.fingerprint })).toMatchObject({ status: 'updated' })
      expect(await set({})).toEqual({ status: 'exists', keys: [key] })
      expect(await ask(ssh.check_known_host, given({ fingerprint: seen?.fingerprint }))).toBe('exists')
      await writeFile(join(folder, 'ssh-keyscan'), '#!/bin/sh\nexit 1\n')
      const job = context()
      expect(await ask(ssh.recv_known_host_entries, { hostname: 'web1' }, job)).toBeNull()
      expect(job.retcode).toBe(1)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('need a name, a user who exists, and a file', async () => {
    const error = (text: string) => ({ status: 'error', error: text })
    for (const fn of [ssh.check_known_host, ssh.rm_known_host, ssh.set_known_host])
      expect(await ask(fn, {})).toEqual(error('hostname argument required'))
    expect(await ask(ssh.rm_known_host, given())).toEqual(error(`Known hosts file ${file} does not exist`))
    expect(await ask(ssh.rm_known_host, given({ user: 'nosuchuser', config: undefined }))).toEqual(
      error('User nosuchuser does not exist'),
    )
    expect(await ask(ssh.set_known_host, given({ port: 2222 }))).toEqual(
      error('argument port can not be used in conjunction with argument hash_known_hosts'),
    )
  })
})

describe('A file that a user has planted', needs(ROOT, program('ssh-keygen')), () => {
  const planter = { user: 'planter', config: '.ssh/authorized_keys' }
  let home: string
  beforeEach(async () => {
    home = join(folder, 'home')
    await mkdir(join(home, '.ssh'), { recursive: true })
    for (const place of [home, join(home, '.ssh')]) await chown(place, 4242, 4242)
    await chmod(folder, 0o755)
    // The user is none of /etc/passwd, so that getent is asked for it.
    await stubProgram(join(folder, 'bin'), 'getent', `echo planter:x:4242:4242::${home}:/bin/sh`)
    await writeFile(join(folder, 'private'), `ssh-rsa ${one} secret\n`, { mode: 0o600 })
  })
  afterEach(() => void vi.unstubAllEnvs())
  const plant = async (name: string, target: string) => {
    await rm(join(home, '.ssh', name), { force: true })
    await symlink(target, join(home, '.ssh', name))
  }

  test.each(['symlink', 'hard link'])('as a %s to a file of root is not returned as a key', async (kind) => {
    const place = join(home, '.ssh', 'id_rsa.pub')
    if (kind === 'symlink') await symlink(join(folder, 'private'), place)
    else await link(join(folder, 'private'), place)
    expect(await ask(ssh.user_keys, { user: 'planter', prvfile: false })).toEqual({})
    await writeFile(join(home, '.ssh', 'id_ed25519.pub'), 'theirs')
    await chown(join(home, '.ssh', 'id_ed25519.pub'), 4242, 4242)
    expect(await ask(ssh.user_keys, { user: 'planter', prvfile: false })).toEqual({
      planter: { 'id_ed25519.pub': 'theirs' },
    })
  })

  test('as a FIFO or a device does not block a job or use up memory', async () => {
    execFileSync('mkfifo', [join(home, '.ssh', 'authorized_keys')])
    await expect(ask(ssh.auth_keys, planter)).rejects.toThrow('is not a regular file')
    expect(await ask(ssh.auth_keys, { ...planter, user: ['planter'] })).toEqual({})
    await plant('authorized_keys', '/dev/zero')
    await expect(ask(ssh.auth_keys, planter)).rejects.toThrow('is a link to what does not belong')
    await plant('known_hosts', '/dev/zero')
    const of = { user: 'planter', hostname: 'web1' }
    await expect(ask(ssh.get_known_host_entries, of)).rejects.toThrow('is a link to what does not belong')
  })

  test('as a folder that leads to one of root changes nothing there', async () => {
    const victim = join(folder, 'victim')
    await mkdir(victim)
    await rm(join(home, '.ssh'), { recursive: true })
    await symlink(victim, join(home, '.ssh'))
    await writeFile(join(victim, 'authorized_keys'), 'ours\n')
    await writeFile(join(victim, 'known_hosts'), `web1 ssh-rsa ${one}\n`)
    const known = { user: 'planter', hostname: 'web1' }
    const attempts: [AnyFn, object][] = [
      [ssh.set_auth_key, { ...planter, key: one }],
      [ssh.set_known_host, { ...known, key: other, enc: 'ssh-rsa', hash_known_hosts: false }],
      [ssh.rm_known_host, known],
      [ssh.hash_known_hosts, { user: 'planter' }],
    ]
    for (const [fn, given] of attempts)
      await expect(ask(fn, given)).rejects.toThrow('is a link to what does not belong')
    expect(await readFile(join(victim, 'authorized_keys'), 'utf8')).toBe('ours\n')
    expect(await readFile(join(victim, 'known_hosts'), 'utf8')).toBe(`web1 ssh-rsa ${one}\n`)
  })

  test('their known hosts stay their own file when they are changed', SLOW, async () => {
    const file = join(home, '.ssh', 'known_hosts')
    await writeFile(file, `web1,10.0.0.1 ssh-rsa ${one}\ndb1 ssh-rsa ${one}\n*.x ssh-rsa ${one}\n`)
    await chown(file, 4242, 4242)
    await ask(ssh.hash_known_hosts, { user: 'planter' })
    const found = (hostname: string) => ask(ssh.get_known_host_entries, { user: 'planter', hostname })
    for (const name of ['web1', '10.0.0.1', 'db1', 'a.x'])
      expect(await found(name)).toEqual([expect.objectContaining({ key: one })])
    expect(await readFile(file, 'utf8')).not.toMatch(/web1|10\.0|db1/)
    await ask(ssh.rm_known_host, { user: 'planter', hostname: 'web1' })
    expect(await found('web1')).toBeNull()
    expect((await stat(file)).uid).toBe(4242)
  })
})

describe('Words that would be options or other lines', () => {
  test.each([
    [ssh.recv_known_host_entries, { hostname: '-f/etc/shadow' }],
    [ssh.recv_known_host_entries, { hostname: 'web1', enc: '-f/etc/shadow' }],
    [ssh.set_known_host, { hostname: 'web1', key: `${one}\nweb2 ssh-rsa ${one}` }],
    [ssh.set_known_host, { hostname: 'web1 ssh-rsa x\nweb2', key: one }],
  ])('are refused as hosts and their keys', async (fn, given) => {
    await expect(ask(fn as AnyFn, given)).rejects.toThrow('must be one word that does not begin with a dash')
  })

  test('are refused as comments and options of keys', async () => {
    const set = (more: object) => ask(ssh.set_auth_key, { user, key: one, config, ...more })
    const line = `x\nssh-rsa ${other} evil`
    for (const more of [{ comment: line }, { options: ['no-pty', line] }])
      await expect(set(more)).rejects.toThrow('would be another key')
  })
})

describe('key_is_encrypted', () => {
  const made = (type: string, format: string, passphrase: string) => {
    const path = join(folder, `${type}-${format}-${passphrase}`)
    execFileSync('ssh-keygen', ['-q', '-t', type, '-m', format, '-N', passphrase, '-f', path])
    return path
  }

  test('reports which private keys need a passphrase', {
    ...needs(program('ssh-keygen')),
    ...SLOW,
  }, async () => {
    for (const format of ['PEM', 'RFC4716']) {
      expect(await ask(ssh.key_is_encrypted, { key: made('rsa', format, '') })).toBe(false)
      expect(await ask(ssh.key_is_encrypted, { key: made('rsa', format, 'secret') })).toBe(true)
    }
  })

  test('refuses a file that is no private key, or does not exist', async () => {
    const path = join(folder, 'text')
    await writeFile(path, 'ssh-rsa AAAA')
    await expect(ask(ssh.key_is_encrypted, { key: path })).rejects.toThrow(`${path} is not a private key`)
    await expect(ask(ssh.key_is_encrypted, { key: join(folder, 'none') })).rejects.toThrow('does not exist')
  })
})
