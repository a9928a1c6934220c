import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { currentUser } from '../../../core/base/current-user.ts'
import { PrivateKey, PublicKey } from '../../../core/crypto/index.ts'
import { loadMasterKeys, MinionKeys } from '../../../core/keys/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'

let directory: string
let pem: string
let otherPem: string

beforeAll(async () => {
  const [one, other] = await Promise.all([PrivateKey.generate(2048), PrivateKey.generate(2048)])
  pem = one.pem
  otherPem = other.pem
})
beforeEach(async () => {
  directory = await temporaryFolder('salt-pki-')
})
afterEach(() => removeFolder(directory))

const path = (name: string) => join(directory, name)
const mode = (name: string) => statSync(path(name)).mode & 0o777

/** Written as a person would, then made private. */
function place(name: string, text: string, bits = 0o400): void {
  writeFileSync(path(name), text)
  chmodSync(path(name), bits)
}

const masterConfig = (given: object = {}) => ({
  pki_dir: directory,
  keysize: 2048,
  permissive_pki_access: false,
  master_sign_pubkey: false,
  master_sign_key_name: 'master_sign',
  master_use_pubkey_signature: false,
  master_pubkey_signature: 'master_pubkey_signature',
  ...given,
})

const minionConfig = (given: object = {}) => ({
  pki_dir: directory,
  keysize: 2048,
  permissive_pki_access: false,
  verify_master_pubkey_sign: false,
  master_sign_key_name: 'master_sign',
  ...given,
})

describe('the key pair of a master', () => {
  test('is made at the first start, readable by its owner only, and the same at later starts', async () => {
    const { key } = await loadMasterKeys(masterConfig({ pki_dir: path('pki') }))
    expect([mode('pki'), mode('pki/master.pem'), mode('pki/master.pub')]).toEqual([0o700, 0o400, 0o644])
    expect(PublicKey.parse(readFileSync(path('pki/master.pub'), 'utf8')).equals(key.publicKey)).toBe(true)
    expect((await loadMasterKeys(masterConfig({ pki_dir: path('pki') }))).key.pem).toBe(key.pem)
  })

  test('is one pair when several processes start at once', SLOW, async () => {
    const loaded = await Promise.all([1, 2, 3].map(() => loadMasterKeys(masterConfig())))
    expect(new Set(loaded.map(({ key }) => key.pem)).size).toBe(1)
    expect((await readdir(directory)).sort()).toEqual(['master.pem', 'master.pub'])
  })

  test('has the public key that belongs to the private one, also after a crash between the two', async () => {
    place('master.pem', pem)
    place('master.pub', PrivateKey.parse(otherPem).publicKey.pem, 0o644)
    const { key } = await loadMasterKeys(masterConfig())
    expect(readFileSync(path('master.pub'), 'utf8').trim()).toBe(key.publicKey.pem)
  })

  test.each([0o644, 0o440, 0o404])('is refused with mode %o, with the command that helps', async (bits) => {
    place('master.pem', pem, bits)
    await expect(loadMasterKeys(masterConfig())).rejects.toMatchObject({
      code: 'PERMISSIONS',
      message: expect.stringContaining(`chmod 0400 ${path('master.pem')}`),
    })
  })

  test('may be read by the group with permissive_pki_access, but not by other users', async () => {
    const permissive = masterConfig({ permissive_pki_access: true })
    place('master.pem', pem, 0o440)
    await expect(loadMasterKeys(permissive)).resolves.toBeDefined()
    chmodSync(path('master.pem'), 0o444)
    await expect(loadMasterKeys(permissive)).rejects.toMatchObject({ code: 'PERMISSIONS' })
  })

  test('is refused in a directory that other users may write', async () => {
    chmodSync(directory, 0o777)
    await expect(loadMasterKeys(masterConfig())).rejects.toThrow(`chmod go-w ${directory}`)
  })

  test('that is damaged is not replaced, but refused with its path', async () => {
    place('master.pem', pem.slice(0, 500))
    await expect(loadMasterKeys(masterConfig())).rejects.toMatchObject({
      code: 'KEY_INVALID',
      message: expect.stringContaining(path('master.pem')),
    })
    expect(readFileSync(path('master.pem'), 'utf8')).toBe(pem.slice(0, 500))
  })
})

describe('the signature of the master key', () => {
  test('is absent without master_sign_pubkey', async () => {
    place('master.pem', pem)
    expect((await loadMasterKeys(masterConfig())).pubSignature('PKCS1v15-SHA1')).toBeUndefined()
  })

  test('verifies with the separate key, under the algorithm asked for', async () => {
    place('master.pem', pem)
    place('master_sign.pem', otherPem)
    const { key, pubSignature } = await loadMasterKeys(masterConfig({ master_sign_pubkey: true }))
    const signing = PublicKey.parse(readFileSync(path('master_sign.pub'), 'utf8'))
    for (const algorithm of ['PKCS1v15-SHA1', 'PKCS1v15-SHA224'] as const) {
      const text = pubSignature(algorithm) ?? ''
      expect(text).toMatch(/^[\w+/=]+\n$/)
      expect(signing.verify(Buffer.from(key.publicKey.pem), Buffer.from(text, 'base64'), algorithm)).toBe(
        true,
      )
    }
  })

  test('can be made beforehand, without the signing key on this host', async () => {
    place('master.pem', pem)
    const config = masterConfig({ master_sign_pubkey: true, master_use_pubkey_signature: true })
    await expect(loadMasterKeys(config)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    place('master_pubkey_signature', 'c2lnbmF0dXJl\n')
    expect((await loadMasterKeys(config)).pubSignature('PKCS1v15-SHA1')).toBe('c2lnbmF0dXJl\n')
  })
})

describe('the keys of a minion', () => {
  test('are made at the first start', SLOW, async () => {
    const { key, signingKey } = await MinionKeys.open(minionConfig())
    expect([mode('minion.pem'), mode('minion.pub')]).toEqual([0o400, 0o644])
    expect(signingKey).toBeUndefined()
    expect((await MinionKeys.open(minionConfig())).key.pem).toBe(key.pem)
  })

  test('remember the master', async () => {
    place('minion.pem', pem)
    const keys = await MinionKeys.open(minionConfig())
    expect(await keys.master().read()).toBeUndefined()
    const master = PrivateKey.parse(otherPem).publicKey
    await keys.master().write(master)
    expect((await keys.master().read())?.equals(master)).toBe(true)
    expect(readFileSync(path('minion_master.pub'), 'utf8').trim()).toBe(master.pem)
  })

  test('are refused with the name of the damaged file', async () => {
    place('minion.pem', pem)
    place('minion_master.pub', 'damaged', 0o644)
    await expect((await MinionKeys.open(minionConfig())).master().read()).rejects.toThrow(
      path('minion_master.pub'),
    )
  })

  test('need the signing key of the master only with verify_master_pubkey_sign', async () => {
    place('minion.pem', pem)
    const config = minionConfig({ verify_master_pubkey_sign: true })
    await expect(MinionKeys.open(config)).rejects.toThrow('Copy the file of that name')
    const { publicKey } = PrivateKey.parse(otherPem)
    place('master_sign.pub', publicKey.pem, 0o644)
    expect((await MinionKeys.open(config)).signingKey?.equals(publicKey)).toBe(true)
  })
})

describe('in place of a key', () => {
  const makePipe = (name: string) => execFileSync('mkfifo', [path(name)])
  const restore =
    'Restore it from a backup, or delete it to get a new one, which all peers must accept again.'

  test.each([
    ['a folder, not a regular file', (name: string) => mkdirSync(path(name), { mode: 0o700 })],
    ['a pipe, not a regular file', makePipe],
    [
      'a symbolic link to /nowhere/key.pem, which does not exist',
      (name: string) => symlinkSync('/nowhere/key.pem', path(name)),
    ],
  ])('%s is refused, and not replaced by a new key', async (what, make) => {
    make('minion.pem')
    await expect(MinionKeys.open(minionConfig())).rejects.toThrow(
      `${path('minion.pem')} is ${what}. ${restore}`,
    )
    make('master.pem')
    await expect(loadMasterKeys(masterConfig())).rejects.toThrow(
      `${path('master.pem')} is ${what}. ${restore}`,
    )
    expect(await readdir(directory)).toEqual(['master.pem', 'minion.pem'])
  })

  test('of the master, a link to a file that does not exist or a pipe trusts no other master', async () => {
    place('minion.pem', pem)
    const keys = await MinionKeys.open(minionConfig())
    const known = path('minion_master.pub')
    symlinkSync('/nowhere/key.pub', known)
    const remedy = "Delete the file to trust the master's key again at the next sign-in."
    await expect(keys.master().read()).rejects.toThrow(
      `${known} is a symbolic link to /nowhere/key.pub, which does not exist. ${remedy}`,
    )
    rmSync(known)
    makePipe('minion_master.pub')
    await expect(keys.master().read()).rejects.toThrow(`${known} is a pipe, not a regular file. ${remedy}`)
  })

  test('that is public, a pipe is replaced, and a folder is named', async () => {
    place('minion.pem', pem)
    makePipe('minion.pub')
    await MinionKeys.open(minionConfig())
    expect(readFileSync(path('minion.pub'), 'utf8').trim()).toBe(PrivateKey.parse(pem).publicKey.pem)
    rmSync(path('minion.pub'))
    mkdirSync(path('minion.pub'))
    await expect(MinionKeys.open(minionConfig())).rejects.toThrow(
      `${path('minion.pub')} cannot be written: there is a folder of that name`,
    )
  })
})

test('a file in place of the key directory is named, with a remedy', async () => {
  writeFileSync(path('pki'), '')
  await expect(MinionKeys.open(minionConfig({ pki_dir: path('pki') }))).rejects.toThrow(
    `The directory ${path('pki')} cannot be made by user ${currentUser()}: there is a file of that name (${path('pki')}). Make it for that user, or`,
  )
})
