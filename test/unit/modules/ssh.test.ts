import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as ssh from '../../../modules/ssh.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { commandContext } from './commands.ts'
import { type AnyFn, call } from './context.ts'

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

  test('are checked before', async () => {
    await set(one, { comment: 'me' })
    const check = (key: string, comment: string) =>
      ask(ssh.check_key, { user, key, enc: 'rsa', comment, options: [], config })
    expect(await check(one, 'me')).toBe('exists')
    expect(await check(one, 'you')).toBe('update')
    expect(await check(other, 'me')).toBe('add')
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
  })

  test('that are none, of users who do not exist, or in odd places are refused', async () => {
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
    await expect(set(one)).rejects.toThrow('is a link to what does not belong')
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

  test('are stored with their key, found, hashed and removed', async () => {
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

  test('are replaced, and others stay', async () => {
    await writeFile(file, `db1 ssh-rsa ${one}\nweb1 ssh-ed25519 ${other}\nweb1 ssh-rsa ${one}\n`)
    expect(await set({ key })).toMatchObject({ status: 'updated', old: [{ key: other }, { key: one }] })
    expect(await readFile(file, 'utf8')).toBe(
      `db1 ssh-rsa ${one}\nweb1 ssh-rsa ${one}\nweb1 ssh-ed25519 ${key}\n`,
    )
    await set({ key, port: 2222 })
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
