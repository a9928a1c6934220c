import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fingerprint } from '#internal'
import * as key from '../../../modules/key.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { call, fakeContext } from './context.ts'

let pki_dir: string
beforeEach(async () => {
  pki_dir = await temporaryFolder('salt-ts-key-')
})
afterEach(() => removeFolder(pki_dir))

test.each([
  ['finger', key.finger, 'minion.pub'],
  ['finger_master', key.finger_master, 'minion_master.pub'],
] as const)('key.%s gives the fingerprint of its key', async (_, fn, file) => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const within = fakeContext({ opts: { pki_dir, hash_type: 'sha512' } })
  await expect(call(fn, {}, within)).rejects.toThrow(
    `${join(pki_dir, file)} cannot be read: it does not exist before the minion has signed in`,
  )
  await writeFile(join(pki_dir, file), pem)
  expect(await call(fn, {}, within)).toBe(fingerprint(pem, 'sha512'))
  expect(await call(fn, { hash_type: 'md5' }, within)).toBe(fingerprint(pem, 'md5'))
})
