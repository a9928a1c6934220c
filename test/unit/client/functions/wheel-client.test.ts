import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WheelClient } from '../../../../core/client/index.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { fingerprint } from '../../../../core/crypto/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { SLOW } from '../../../harness/slow.ts'
import { fakeContext } from '../../modules/context.ts'

let folder: string
let config: MasterConfig
let wheel: WheelClient
let pem: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-wheel-')
  const overrides = { root_dir: folder, cachedir: '/cache', pki_dir: '/pki', sock_dir: '/run' }
  const audit = { key_audit_log: '/audit.log' }
  config = loadMasterConfig({ configDir: folder, overrides: { ...overrides, ...audit } }).config
  pem = (await keyPair('wire1')).publicKey.pem
  await mkdir(config.cachedir, { recursive: true })
  for (const id of ['web1', 'web2']) await file('minions_pre', id)
  await file('minions', 'db1')
  await writeFile(join(config.pki_dir, 'master.pub'), pem)
  wheel = new WheelClient({
    config,
    log: fakeContext().log,
    user: 'root',
    operator: { user: 'root', sudo_user: 'ann' },
  })
})
afterEach(async () => {
  await wheel.close()
  await removeFolder(folder)
})

async function file(section: string, id: string): Promise<void> {
  await mkdir(join(config.pki_dir, section), { recursive: true, mode: 0o700 })
  await writeFile(join(config.pki_dir, section, id), pem)
}

const run = async (fun: string, args: unknown[] = [], kwargs = {}) =>
  (await wheel.run(fun, args, kwargs)).return

test('keys are listed, matched, printed and compared', async () => {
  expect(await run('key.list_all')).toEqual({
    minions: ['db1'],
    minions_pre: ['web1', 'web2'],
    minions_rejected: [],
    minions_denied: [],
    local: ['master.pub'],
  })
  expect(await run('key.list', ['pre'])).toEqual({ minions_pre: ['web1', 'web2'] })
  expect(await run('key.list', ['all'])).toMatchObject({ minions: ['db1'] })
  expect(await run('key.list', ['odd'])).toBe(
    "There is no list 'odd'. Use accepted, pre, rejected, denied or all.",
  )
  expect(await run('key.name_match', ['*1'])).toEqual({ minions: ['db1'], minions_pre: ['web1'] })
  expect(await run('key.print', ['db1'])).toEqual({ minions: { db1: pem } })
  expect(await run('key.finger', ['db1'])).toEqual({ minions: { db1: fingerprint(pem, 'sha256') } })
  const md5 = { local: { 'master.pub': fingerprint(pem, 'md5') } }
  expect(await run('key.finger_master', [], { hash_type: 'md5' })).toEqual(md5)
  expect(await run('key.master_key_str')).toEqual({ local: { 'master.pub': pem } })
})

test('keys are accepted, rejected and deleted, and the user is recorded', async () => {
  expect(await run('key.accept', ['web*'])).toEqual({ minions: ['web1', 'web2'] })
  expect(await run('key.reject', ['web1'], { include_accepted: true })).toEqual({
    minions_rejected: ['web1'],
  })
  expect(await run('key.accept_dict', [{ minions_rejected: ['web1'] }], { include_rejected: true })).toEqual({
    minions: ['web1'],
  })
  expect(await run('key.delete', ['web1'])).toEqual({})
  expect(await run('key.delete_dict', [{ minions: ['db1'], minions_pre: ['web2'] }])).toEqual({
    minions: ['web2'],
  })
  const lines = (await readFile(join(folder, 'audit.log'), 'utf8')).trim().split('\n')
  const acts = lines.map((line) => JSON.parse(line)).map(({ act, id }) => `${act} ${id}`)
  expect(acts).toEqual([
    'accept web1',
    'accept web2',
    'reject web1',
    'accept web1',
    'delete web1',
    'delete db1',
  ])
  expect(JSON.parse(lines[0] as string)).toMatchObject({ by: 'wheel', user: 'root', sudo_user: 'ann' })
})

test('key pairs are made, and accepted if the id has no key', SLOW, async () => {
  const pair = (await run('key.gen')) as { priv: string; pub: string }
  expect([pair.priv, pair.pub]).toEqual([
    expect.stringMatching(/^-----BEGIN (RSA )?PRIVATE KEY/),
    expect.stringMatching(/^-----BEGIN PUBLIC KEY/),
  ])
  expect(await run('key.gen_accept', ['db1'])).toEqual({})
  const made = (await run('key.gen_accept', ['new1'])) as { pub: string }
  expect((await run('key.print', ['new1'])) as object).toMatchObject({
    minions: { new1: expect.any(String) },
  })
  expect(made.pub).toContain('PUBLIC KEY')
})

test('key pairs are made in a folder, and an existing one is not changed', SLOW, async () => {
  const keydir = join(folder, 'made')
  const fingerprintOfIt = await run('key.gen_keys', [], { keydir, keyname: 'web9' })
  const secret = await readFile(join(keydir, 'web9.pem'), 'utf8')
  expect(fingerprintOfIt).toBe(fingerprint(await readFile(join(keydir, 'web9.pub'), 'utf8'), 'sha256'))
  expect(await run('key.gen_keys', [keydir, 'web9'])).toBe(fingerprintOfIt)
  expect(await readFile(join(keydir, 'web9.pem'), 'utf8')).toBe(secret)
  expect(await run('key.gen_keys', [keydir, '../web9'])).toBe("'../web9' cannot be a file name.")
  expect(await run('key.gen_keys', ['made'])).toContain('keydir')
})

test('the master key is signed', SLOW, async () => {
  expect(await run('key.gen_signature')).toContain('There is no signing key')
  expect(await run('key.gen_signature', [], { auto_create: true, keysize: 2048 })).toBe(true)
  expect(await readFile(join(config.pki_dir, 'master_pubkey_signature'), 'utf8')).toMatch(/^[\w+/=]+\n$/)
})
