import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SaltInvocationError } from 'salt-ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fingerprint } from '#internal'
import * as key from '../../../modules/key.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { call, fakeContext } from './context.ts'

let pki_dir: string
beforeEach(async () => {
  pki_dir = await temporaryFolder('salt-ts-key-')
})
afterEach(() => removeFolder(pki_dir))

test.each([
  ['finger', key.finger, 'minion.pub'],
  ['finger_master', key.finger_master, 'minion_master.pub'],
] as const)('key.%s returns the fingerprint of its key', SLOW, async (_, fn, file) => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const within = fakeContext({ opts: { pki_dir, hash_type: 'sha512' } })
  expect(await call(fn, {}, within)).toBe('')
  await writeFile(join(pki_dir, file), pem)
  expect(await call(fn, {}, within)).toBe(fingerprint(pem, 'sha512'))
  expect(await call(fn, { hash_type: 'md5' }, within)).toBe(fingerprint(pem, 'md5'))
  await expect(call(fn, { hash_type: 'none' }, within)).rejects.toThrow(SaltInvocationError)
})
