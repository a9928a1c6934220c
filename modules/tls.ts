/** Read certificates. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Args, CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { strftime } from '#internal'
import { hashName } from './_hashutil/hash-name.ts'
import { textOf } from './_host/files.ts'
import { runProgram } from './_program/run.ts'
import { extensionsOf, namesOf, readX509 } from './_x509/certificate.ts'
import { pairs, readDer } from './_x509/der.ts'
import { textsOf } from './_x509/requests.ts'
import { algorithmOf } from './_x509/signature.ts'

/**
 * Describe a certificate, a PEM text or the path of a file: fingerprint, names, serial number, times in seconds since 1970, and
 * extensions.
 *
 * @example salt '*' tls.cert_info /dir/for/certs/cert.pem
 * @example salt '*' tls.cert_info /dir/for/certs/cert.pem digest=sha1
 */
export const cert_info = fn(
  { cert: p.string(), digest: p.default(p.string(), 'sha256') },
  async ({ cert, digest }) => {
    const hash = hashName(digest)
    if (hash === undefined) throw new SaltInvocationError(`The digest '${digest}' is not supported.`)
    const found = await readX509(cert)
    const alternatives = namesIn(found.subjectAltName ?? '')
    return {
      fingerprint: pairs(createHash(hash).update(found.raw).digest('hex')),
      subject: namesOf(found.subject),
      issuer: namesOf(found.issuer),
      serial_number: BigInt(`0x${found.serialNumber}`),
      not_before: seconds(found.validFrom),
      not_after: seconds(found.validTo),
      signature_algorithm: algorithmOf(readDer(found.raw)),
      extensions: textsOf(extensionsOf(found)),
      ...(alternatives.length > 0 && { subject_alt_names: alternatives }),
    }
  },
)

const cacert_path = p.optional(p.string())
const ca_name = p.string({ pattern: '^[^/]+$' })
const as_text = p.default(p.boolean(), false)
/** Parameters of the functions that find a file of a certificate which an authority has signed. */
const signedParams = { ca_name, CN: p.default(p.string(), 'localhost'), as_text, cacert_path }

/**
 * Return when a certificate expires, by default as `2026-01-31`.
 *
 * @example salt '*' tls.get_expiration_date /dir/for/certs/cert.pem date_format='%d/%m/%y'
 */
export const get_expiration_date = fn(
  { cert: p.string(), date_format: p.default(p.string(), '%Y-%m-%d') },
  async ({ cert, date_format }) => {
    const found = await readX509(cert).catch(() => {
      throw new CommandExecutionError(`Failed to read cert from ${cert}, see log for details`)
    })
    return strftime(date_format, localOf(new Date(found.validTo)))
  },
)

/**
 * Return the folder of certificate authorities (config: ca.cert_base_path), or `cacert_path` itself.
 *
 * @example salt '*' tls.cert_base_path
 */
export const cert_base_path = fn({ cacert_path }, ({ cacert_path }, context) =>
  basePath(cacert_path, context),
)

/**
 * Use another folder of certificate authorities for the rest of the job.
 *
 * @example salt '*' tls.set_ca_path /etc/certs
 */
export const set_ca_path = fn({ cacert_path: p.string() }, ({ cacert_path }, context) => {
  if (cacert_path) context.context.set(PATH_OF_JOB, cacert_path)
  return basePath(undefined, context)
})

/**
 * True if there is a certificate authority of this name.
 *
 * @example salt '*' tls.ca_exists test_ca /etc/certs
 */
export const ca_exists = fn(
  { ca_name, cacert_path, ca_filename: p.optional(p.string()) },
  async ({ ca_name, cacert_path, ca_filename }, context) => {
    const path = join(
      await basePath(cacert_path, context),
      ca_name,
      `${ca_filename || `${ca_name}_ca_cert`}.crt`,
    )
    return (await textOf(path)) !== undefined
  },
)

/**
 * Return the path of the certificate of an authority, or with `as_text` the certificate.
 *
 * @example salt '*' tls.get_ca test_ca as_text=False cacert_path=/etc/certs
 */
export const get_ca = fn(
  { ca_name, as_text, cacert_path },
  async ({ ca_name, as_text, cacert_path }, context) =>
    existing(join(await basePath(cacert_path, context), ca_name, `${ca_name}_ca_cert.crt`), ca_name, as_text),
)

/**
 * Return the path of a certificate that an authority has signed, or with `as_text` the certificate.
 *
 * @example salt '*' tls.get_ca_signed_cert test_ca CN=localhost as_text=False cacert_path=/etc/certs
 */
export const get_ca_signed_cert = fn(
  {
    ...signedParams,
    cert_filename: p.optional(p.string()),
  },
  ({ cert_filename, ...signed }, context) => signedFile(`${cert_filename || signed.CN}.crt`, signed, context),
)

/**
 * Return the path of the private key of a certificate that an authority has signed, or with `as_text` the key.
 *
 * @example salt '*' tls.get_ca_signed_key test_ca CN=localhost as_text=False cacert_path=/etc/certs
 */
export const get_ca_signed_key = fn(
  {
    ...signedParams,
    key_filename: p.optional(p.string()),
  },
  ({ key_filename, ...signed }, context) => signedFile(`${key_filename || signed.CN}.key`, signed, context),
)

/**
 * Check a certificate, a PEM text or the path of a file, against an authority and the path of its list of revoked certificates: `valid`,
 * and if it is false why, as `error`. The program `openssl` decides.
 *
 * @example salt '*' tls.validate /etc/pki/test_ca/certs/web.crt test_ca /etc/pki/test_ca/crl.pem
 */
export const validate = fn(
  { cert: p.string(), ca_name, crl_file: p.nullable(p.string()) },
  async ({ cert, ca_name, crl_file }, context) => {
    const found = await readX509(cert).catch(() => {
      throw new CommandExecutionError(`Failed to read cert from ${cert}, see log for details`)
    })
    const authority = join(await basePath(undefined, context), ca_name, `${ca_name}_ca_cert.crt`)
    await existing(authority, ca_name, false)
    if (crl_file && (await textOf(crl_file)) === undefined)
      throw new CommandExecutionError(`The list of revoked certificates ${crl_file} cannot be read`)
    const list = crl_file ? ['-CRLfile', crl_file] : []
    const { retcode, stdout, stderr } = await runProgram(
      ['openssl', 'verify', '-CAfile', authority, ...list, '-crl_check_all'],
      context,
      { input: found.toString(), ignoreRetcode: true },
    )
    if (retcode === 0) return { valid: true }
    const [, error = stderr] = /^error \d+ at \d+ depth lookup: ?(.*)$/m.exec(`${stdout}\n${stderr}`) ?? []
    return { error, valid: false }
  },
)

/** Extensions of all certificates, and of the requests for those of a kind. */
const COMMON = {
  csr: { basicConstraints: 'CA:FALSE' },
  cert: { authorityKeyIdentifier: 'keyid,issuer:always', subjectKeyIdentifier: 'hash' },
}
const USES = new Map([
  ['server', { extendedKeyUsage: 'serverAuth', keyUsage: 'digitalSignature, keyEncipherment' }],
  [
    'client',
    { extendedKeyUsage: 'clientAuth', keyUsage: 'nonRepudiation, digitalSignature, keyEncipherment' },
  ],
])

/**
 * Return the extensions of a kind of certificate, `server` or `client`, for its request (`csr`) and for itself (`cert`).
 *
 * @example salt '*' tls.get_extensions client
 */
export const get_extensions = fn({ cert_type: p.string() }, ({ cert_type }) => {
  const use = USES.get(cert_type || 'server')
  if (!use)
    throw new SaltInvocationError(`There is no kind of certificate '${cert_type}': use server or client`)
  return { csr: { ...COMMON.csr, ...use }, cert: COMMON.cert }
})

const PATH_OF_JOB = 'ca.contextual_cert_base_path'

async function basePath(given: string | undefined, { call, context }: Context): Promise<string> {
  const ofJob = context.get(PATH_OF_JOB)
  if (given || typeof ofJob === 'string') return given || String(ofJob)
  return String(await call('config.get', { key: 'ca.cert_base_path', default: '/etc/pki', delimiter: '|' }))
}

async function signedFile(
  name: string,
  { ca_name, CN, as_text, cacert_path }: Args<typeof signedParams>,
  context: Context,
): Promise<string> {
  return existing(join(await basePath(cacert_path, context), ca_name, 'certs', name), CN, as_text)
}

async function existing(path: string, name: string, asText: boolean): Promise<string> {
  const text = await textOf(path)
  if (text === undefined)
    throw new CommandExecutionError(`Certificate does not exist for ${name}: there is no ${path}`)
  return asText ? text : path
}

/** Return a date whose local fields are those of UTC. */
const localOf = (date: Date): Date => new Date(date.getTime() + date.getTimezoneOffset() * 60_000)

const seconds = (time: string): number => Date.parse(time) / 1000

/** Return the host names and addresses among alternative names. */
const namesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?:^|, )(?:DNS|IP Address):([^,]+)/g)].map(([, name = '']) => name)),
]
