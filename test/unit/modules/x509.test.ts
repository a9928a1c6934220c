import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as tls from '../../../modules/tls.ts'
import * as x509 from '../../../modules/x509.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

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

  test('are described as openssl does', SLOW, async () => {
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
      'X509v3 Extensions': {
        basicConstraints: 'critical CA:TRUE',
        subjectAltName: 'DNS:web1, DNS:www, IP Address:10.0.0.1',
      },
    })
    const hash = (name: string) => Number(`0x${told[name]?.replaceAll(':', '')}`)
    expect(hash('Subject Hash')).toBe(Number(`0x${shown('-subject_hash_old').trim()}`))
    expect(hash('Issuer Hash')).toBe(Number(`0x${shown('-issuer_hash_old').trim()}`))
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

  test('are compared with keys', async () => {
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

  test('are verified with keys', async () => {
    expect(await ask(x509.verify_signature, { certificate: at('web.crt') })).toBe(true)
    const given = { certificate: at('web.crt'), signing_pub_key: at('ec.crt') }
    expect(await ask(x509.verify_signature, given)).toBe(false)
  })

  test('are checked for expiry', async () => {
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

  test('that are malicious do not block a job, and leave the others readable', async () => {
    const folder = at('hostile')
    await mkdir(folder)
    await writeFile(join(folder, 'a.crt'), `-----BEGIN CERTIFICATE-----\n${'\n'.repeat(1_000_000)}x!`)
    await writeFile(join(folder, 'b.crt'), '-----BEGIN CERTIFICATE-----\n'.repeat(30_000))
    const body = (await readFile(at('ec.crt'), 'utf8')).replaceAll(/-----.*-----|\s/g, '')
    const der = Buffer.from(body, 'base64')
    // An algorithm of keys that does not exist.
    der[der.indexOf(Buffer.from('06072a8648ce3d0201', 'hex')) + 8] = 0x63
    const pem = (bytes: Buffer) =>
      `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`
    await writeFile(join(folder, 'c.crt'), pem(der))
    await copyFile(at('web.crt'), join(folder, 'd.crt'))
    const found = await ask(x509.read_certificates, { glob_path: join(folder, '*.crt') })
    expect(Object.keys(found as object)).toEqual([join(folder, 'd.crt')])
    await expect(ask(x509.read_certificate, { certificate: join(folder, 'c.crt') })).rejects.toThrow(
      'The certificate cannot be read',
    )
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
    await expect(ask(x509.read_certificate, { certificate: at('not.crt') })).rejects.toThrow(
      'PEM does not contain a single entry of type CERTIFICATE.',
    )
    const none = at('none.pem')
    await expect(ask(x509.get_pem_entry, { text: none })).rejects.toThrow(`PEM text not valid:\n${none}`)
    await expect(ask(x509.get_private_key_size, { private_key: none })).rejects.toThrow(
      `PEM does not contain a single entry of type (?:RSA )?PRIVATE KEY:\n${none}`,
    )
  })
})

describe('Requests and revocation lists', needs(program('openssl')), () => {
  const extensions = [
    'subjectAltName=DNS:web1,IP:10.0.0.1,IP:::1,email:a@b.de,URI:http://x/y',
    'basicConstraints=critical,CA:TRUE,pathlen:1',
    'keyUsage=digitalSignature,cRLSign,decipherOnly,keyAgreement',
    'extendedKeyUsage=serverAuth,1.2.3.4',
  ].flatMap((one) => ['-addext', one])

  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-x509-')
    const key = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`]
    const subject = '/C=DE/O=Ex  Ample/OU=Ö/CN=Web1/ST=By/emailAddress=a@b.de'
    openssl('req', '-utf8', ...key('web'), '-out', 'web.csr', '-subj', subject, ...extensions)
    openssl('req', '-x509', ...key('ca'), '-out', 'ca.crt', '-days', '9', '-subj', '/CN=ca')
    openssl('req', '-x509', ...key('other'), '-out', 'other.crt', '-days', '9', '-subj', '/CN=ca')
    const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-set_serial', '0x00fe12', '-days', '5']
    openssl('x509', '-req', '-in', 'web.csr', ...signing, '-out', 'web.crt')
    await writeFile(at('index.txt'), '')
    await writeFile(at('number'), '01\n')
    await writeFile(
      at('ca.cnf'),
      '[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ncrlnumber=number\ndefault_md=sha256\n',
    )
    const ca = ['ca', '-config', 'ca.cnf', '-keyfile', 'ca.key', '-cert', 'ca.crt', '-crldays', '9']
    openssl(...ca, '-gencrl', '-out', 'empty.crl')
    openssl(...ca, '-revoke', 'web.crt', '-crl_reason', 'keyCompromise')
    openssl(...ca, '-gencrl', '-out', 'web.crl')
  })
  afterAll(() => removeFolder(folder))

  test('a request is described, with the extensions it asks for as openssl shows them', async () => {
    const told = (await ask(x509.read_csr, { csr: at('web.csr') })) as Record<string, unknown>
    expect(told).toMatchObject({
      Version: 1,
      Subject: { C: 'DE', O: 'Ex  Ample', OU: 'Ö', CN: 'Web1', SP: 'By', Email: 'a@b.de' },
      'X509v3 Extensions': {
        subjectAltName:
          'DNS:web1, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, email:a@b.de, URI:http://x/y',
        basicConstraints: 'CA:TRUE, pathlen:1',
        keyUsage: 'Digital Signature, Key Agreement, CRL Sign, Decipher Only',
        extendedKeyUsage: 'TLS Web Server Authentication, 1.2.3.4',
      },
    })
    const hash = openssl('x509', '-in', 'web.crt', '-noout', '-subject_hash_old').trim()
    expect(Number(`0x${String(told['Subject Hash']).replaceAll(':', '')}`)).toBe(Number(`0x${hash}`))
    expect(await ask(x509.get_public_key, { key: at('web.csr') })).toBe(
      openssl('req', '-in', 'web.csr', '-noout', '-pubkey'),
    )
  })

  test('a revocation list is described: its issuer, its date, and the revoked certificates', async () => {
    expect(await ask(x509.read_crl, { crl: at('web.crl') })).toMatchObject({
      Version: '2 (0x1)',
      'Signature Algorithm': 'sha256WithRSAEncryption',
      Issuer: { CN: 'ca' },
      'Last Update': expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      'Next Update': expect.stringMatching(/^\d{4}-/),
      'Revoked Certificates': [
        {
          FE12: {
            'Revocation Date': expect.stringMatching(/^\d{4}-/),
            'CRL entry extensions': { 'X509v3 CRL Reason Code': 'Key Compromise' },
          },
        },
      ],
    })
    expect(await ask(x509.read_crl, { crl: at('empty.crl') })).toMatchObject({ 'Revoked Certificates': [] })
  })

  test('a revocation list is verified by the key of its issuer', async () => {
    expect(await ask(x509.verify_crl, { crl: at('web.crl'), cert: at('ca.crt') })).toBe(true)
    const context = fakeContext()
    const given = { crl: at('web.crl'), cert: at('other.crt') }
    expect(await call(x509.verify_crl as AnyFn, given, context)).toBe(false)
    expect(context.retcode).toBe(1)
  })

  test('a truncated file, or one of another kind, is refused with a sentence', async () => {
    const bytes = Buffer.from((await readFile(at('web.csr'), 'utf8')).replace(/-----.*-----/g, ''), 'base64')
    for (const length of [1, 3, 40, 300]) {
      const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.subarray(0, length).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
      await expect(ask(x509.read_csr, { csr: pem })).rejects.toThrow('The DER of this entry is malformed')
    }
    await expect(ask(x509.read_crl, { crl: at('web.csr') })).rejects.toThrow('X509 CRL')
  })

  test('a PEM entry is written for its owner only, and keeps the key of a certificate on request', async () => {
    const [path, key] = [at('both.pem'), await readFile(at('web.key'), 'utf8')]
    const certificate = await readFile(at('web.crt'), 'utf8')
    await writeFile(path, key)
    const given = { text: at('web.crt'), path, pem_type: 'CERTIFICATE' }
    expect(await ask(x509.write_pem, { ...given, overwrite: false })).toBe(`PEM written to ${path}`)
    expect(await readFile(path, 'utf8')).toBe(key + certificate)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await ask(x509.write_pem, given)
    expect(await readFile(path, 'utf8')).toBe(certificate)
  })

  test('authorities of tls are found in their folder', async () => {
    const within = fakeContext({
      call: (async (_: string, given: { default: string }) => given.default) as never,
    })
    const of = (fn: AnyFn, given: object) => call(fn, given as Record<string, unknown>, within)
    expect(await of(tls.cert_base_path, {})).toBe('/etc/pki')
    expect(await of(tls.set_ca_path, { cacert_path: folder })).toBe(folder)
    expect(await of(tls.ca_exists, { ca_name: 'mine' })).toBe(false)
    await expect(of(tls.get_ca, { ca_name: 'mine' })).rejects.toThrow('does not exist for mine')
    await mkdir(at('mine/certs'), { recursive: true })
    await copyFile(at('ca.crt'), at('mine/mine_ca_cert.crt'))
    await copyFile(at('web.key'), at('mine/certs/web1.key'))
    expect(await of(tls.ca_exists, { ca_name: 'mine' })).toBe(true)
    expect(await of(tls.get_ca, { ca_name: 'mine' })).toBe(at('mine/mine_ca_cert.crt'))
    expect(await of(tls.get_ca_signed_key, { ca_name: 'mine', CN: 'web1', as_text: true })).toContain(
      'PRIVATE KEY',
    )
    await expect(of(tls.get_ca_signed_cert, { ca_name: 'mine', CN: 'web1' })).rejects.toThrow('web1')
    const check = (cert: string, list: string | null) =>
      of(tls.validate, { cert, ca_name: 'mine', crl_file: list === null ? null : at(list) })
    expect(await check(at('ca.crt'), 'empty.crl')).toEqual({ valid: true })
    expect(await check(await readFile(at('ca.crt'), 'utf8'), 'empty.crl')).toEqual({ valid: true })
    const missing = { error: 'unable to get certificate CRL', valid: false }
    expect(await check(at('ca.crt'), null)).toEqual(missing)
    const unknown = { error: 'self-signed certificate', valid: false }
    expect(await check(at('other.crt'), 'empty.crl')).toEqual(unknown)
    await expect(check(at('none.crt'), 'empty.crl')).rejects.toThrow('Failed to read cert')
    await expect(check(at('ca.crt'), 'none.crl')).rejects.toThrow('cannot be read')
    await expect(of(tls.validate, { cert: at('ca.crt'), ca_name: 'no', crl_file: null })).rejects.toThrow(
      'Certificate does not exist for no',
    )
    const days = await of(tls.get_expiration_date, { cert: at('ca.crt'), date_format: '%Y-%m-%d' })
    expect(openssl('x509', '-in', 'ca.crt', '-noout', '-enddate', '-dateopt', 'iso_8601')).toContain(
      String(days),
    )
  })
})

test('x509.get_signing_policy prefers the pillar to the configuration, and leaves out its private key', async () => {
  const policy = { signing_private_key: '/k', days_valid: 90 }
  const context = fakeContext({
    pillar: { x509_signing_policies: { www: [policy, { CN: 'www' }] } },
    opts: { x509_signing_policies: { www: {}, db: policy } },
  })
  const of = (name: string) => call(x509.get_signing_policy, { signing_policy_name: name }, context)
  expect(await of('www')).toEqual({ days_valid: 90, CN: 'www' })
  expect(await of('db')).toEqual({ days_valid: 90 })
  expect(await of('none')).toBe('Signing policy none does not exist.')
})

test('tls.get_extensions returns the extensions for a kind of certificate', async () => {
  expect(await ask(tls.get_extensions, { cert_type: 'server' })).toEqual({
    csr: {
      basicConstraints: 'CA:FALSE',
      extendedKeyUsage: 'serverAuth',
      keyUsage: 'digitalSignature, keyEncipherment',
    },
    cert: { authorityKeyIdentifier: 'keyid,issuer:always', subjectKeyIdentifier: 'hash' },
  })
  await expect((async () => ask(tls.get_extensions, { cert_type: 'toString' }))()).rejects.toThrow(
    'use server or client',
  )
})
