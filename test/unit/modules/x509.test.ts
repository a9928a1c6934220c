import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as tls from '../../../modules/tls.ts'
import * as x509 from '../../../modules/x509.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { type AnyFn, call } from './context.ts'

const openssl = (...words: string[]) =>
  execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' }).toString()
const ask = (fn: AnyFn, given: object) => call(fn, given as Record<string, unknown>)
const at = (name: string) => join(folder, name)
let folder: string

describe('Certificates', needs(program('openssl')), () => {
  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-x509-')
    const subject = [
      '-subj',
      '/C=DE/O=Ex ample/CN=web1',
      '-addext',
      'subjectAltName=DNS:web1,DNS:www,IP:10.0.0.1',
    ]
    const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'web.key', '-out', 'web.crt']
    openssl('req', '-x509', ...key, '-days', '30', ...subject)
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-384',
      '-passout',
      'pass:pw',
      '-keyout',
      'ec.key',
      '-out',
      'ec.crt',
      '-subj',
      '/CN=ec',
    )
    await writeFile(at('not.crt'), 'no certificate\n')
  })
  afterAll(() => removeFolder(folder))

  test('are described as openssl does', async () => {
    const told = (await ask(x509.read_certificate, { certificate: at('web.crt') })) as Record<string, string>
    const shown = (...words: string[]) => openssl('x509', '-in', 'web.crt', '-noout', ...words)
    expect(shown('-fingerprint', '-sha256')).toContain(told['SHA-256 Finger Print'])
    expect(shown('-fingerprint', '-md5')).toContain(told['MD5 Finger Print'])
    expect(shown('-serial')).toContain(told['Serial Number']?.replaceAll(':', ''))
    expect(shown('-pubkey')).toBe(told['Public Key'])
    expect(told).toMatchObject({
      Version: 3,
      'Key Size': 2048,
      Subject: { C: 'DE', O: 'Ex ample', CN: 'web1' },
      Issuer: { CN: 'web1' },
      'Not After': expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      'X509v3 Extensions': { subjectAltName: 'DNS:web1, DNS:www, IP Address:10.0.0.1' },
    })
    expect(Object.keys((await ask(x509.read_certificates, { glob_path: at('*.crt') })) as object)).toEqual([
      at('ec.crt'),
      at('web.crt'),
    ])
  })

  test('are described by tls.cert_info', async () => {
    const info = (await ask(tls.cert_info, { cert: at('web.crt'), digest: 'sha1' })) as Record<
      string,
      unknown
    >
    expect(openssl('x509', '-in', 'web.crt', '-noout', '-fingerprint', '-sha1')).toContain(info.fingerprint)
    expect(info).toMatchObject({ subject: { CN: 'web1' }, subject_alt_names: ['web1', 'www', '10.0.0.1'] })
    expect(Number(info.not_after) - Number(info.not_before)).toBe(30 * 86_400)
    expect(typeof info.serial_number).toBe('bigint')
    await expect(ask(tls.cert_info, { cert: at('web.crt'), digest: 'x' })).rejects.toThrow("digest 'x'")
  })

  test('belong to keys', async () => {
    const [private_key, public_key] = [at('web.key'), at('web.crt')]
    expect(await ask(x509.verify_private_key, { private_key, public_key })).toBe(true)
    expect(await ask(x509.verify_private_key, { private_key, public_key: at('ec.crt') })).toBe(false)
    expect(await ask(x509.get_private_key_size, { private_key })).toBe(2048)
    const locked = { private_key: at('ec.key'), passphrase: 'pw' }
    expect(await ask(x509.get_private_key_size, locked)).toBe(384)
    await expect(ask(x509.get_private_key_size, { ...locked, passphrase: 'no' })).rejects.toThrow(
      'The key cannot be read',
    )
    const fromKey = await ask(x509.get_public_key, { key: private_key })
    expect(fromKey).toBe(await ask(x509.get_public_key, { key: public_key }))
    expect(await ask(x509.get_public_key, { key: fromKey })).toBe(fromKey)
  })

  test('are signed by keys', async () => {
    expect(await ask(x509.verify_signature, { certificate: at('web.crt') })).toBe(true)
    const given = { certificate: at('web.crt'), signing_pub_key: at('ec.crt') }
    expect(await ask(x509.verify_signature, given)).toBe(false)
  })

  test('expire', async () => {
    const certificate = at('web.crt')
    const named = { path: certificate, cn: 'web1' }
    expect(await ask(x509.expired, { certificate })).toEqual({ ...named, expired: false })
    expect(await ask(x509.will_expire, { certificate, days: 29 })).toEqual({
      ...named,
      check_days: 29,
      will_expire: false,
    })
    expect(await ask(x509.will_expire, { certificate, days: 31 })).toMatchObject({ will_expire: true })
    expect(await ask(x509.expired, { certificate: at('none.crt') })).toEqual({})
  })

  test('are found in texts, also on one line', async () => {
    const pem = await readFile(at('web.crt'), 'utf8')
    expect(await ask(x509.get_pem_entry, { text: `before\n${pem}after` })).toBe(pem)
    expect(await ask(x509.get_pem_entry, { text: pem.replaceAll('\n', '') })).toBe(pem)
    expect(await ask(x509.get_pem_entry, { text: pem.trim().replaceAll('\n', '\\n') })).toBe(pem)
    expect(await ask(x509.get_pem_entries, { glob_path: at('w*.crt') })).toEqual({ [at('web.crt')]: pem })
    await expect(ask(x509.get_pem_entry, { text: pem, pem_type: 'X509 CRL' })).rejects.toThrow(
      'PEM does not contain a single entry of type X509 CRL',
    )
    await expect(ask(x509.read_certificate, { certificate: at('not.crt') })).rejects.toThrow('PEM does not')
  })
})
