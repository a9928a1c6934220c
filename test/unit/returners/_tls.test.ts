import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { pemFiles, tlsFacts } from '../../../returners/_tls.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const folder = await temporaryFolder('salt-ts-tls-')
const file = join(folder, 'ca.pem')
await writeFile(file, 'a certificate')
afterAll(() => removeFolder(folder))

const NONE = { ssl: false, ssl_ca: undefined, ssl_cert: undefined, ssl_key: undefined, insecure: false }

test('TLS is used on request, or if a file is named, and checks certificates unless insecure is set', async () => {
  expect(await tlsFacts(NONE)).toBeUndefined()
  expect(await tlsFacts({ ...NONE, ssl: true })).toEqual({ rejectUnauthorized: true })
  expect(await tlsFacts({ ...NONE, ssl_ca: file })).toEqual({ ca: 'a certificate', rejectUnauthorized: true })
  expect(await tlsFacts({ ...NONE, ssl: true, insecure: true })).toEqual({ rejectUnauthorized: false })
})

test('None, as in examples of Salt, and empty text count as not set', async () => {
  expect(await tlsFacts({ ...NONE, ssl_ca: 'None', ssl_cert: '' })).toBeUndefined()
})

test('files of options with other names are read', async () => {
  const options = { sslrootcert: file, sslcrl: file, sslcert: undefined }
  const names = { ca: 'sslrootcert', crl: 'sslcrl', cert: 'sslcert' } as const
  expect(await pemFiles(names, options)).toEqual({ ca: 'a certificate', crl: 'a certificate' })
})

test('a file that cannot be read is named with its option', async () => {
  await expect(tlsFacts({ ...NONE, ssl_key: '/no/key.pem' })).rejects.toThrow(
    'the file of ssl_key, /no/key.pem, cannot be read (ENOENT)',
  )
})
