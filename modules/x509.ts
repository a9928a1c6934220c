/** Read and check certificates and keys: PEM texts, or paths of files with them. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { expandSources } from './_archive/sources.ts'
import { describe, keySize, namesOf, publicKeyOf, publicPem, readX509 } from './_x509/certificate.ts'
import { pemEntry } from './_x509/pem.ts'

const certificate = p.string()
const passphrase = p.secret(p.optional(p.string()))
const DAY_MS = 86_400_000

/**
 * Describe a certificate: names, times, fingerprints, public key, and the extensions basicConstraints, subjectAltName and
 * extendedKeyUsage.
 *
 * @example salt '*' x509.read_certificate /etc/pki/mycert.crt
 */
export const read_certificate = fn({ certificate }, async ({ certificate }, { opts }) =>
  describe(await readX509(certificate), hasMd5(opts)),
)

/**
 * Describe all certificates whose paths match a pattern, by path. Other files are left out.
 *
 * @example salt '*' x509.read_certificates '/etc/pki/*.crt'
 */
export const read_certificates = fn({ glob_path: p.string() }, ({ glob_path }, { opts }) =>
  ofFiles(glob_path, async (path) => describe(await readX509(path), hasMd5(opts))),
)

/**
 * Return the first PEM entry of a text or file, or the first one of a type, with lines of 64 characters.
 *
 * @example salt '*' x509.get_pem_entry '-----BEGIN CERTIFICATE REQUEST-----MIICyzCC Ar8CAQI...-----END CERTIFICATE REQUEST-----'
 * @example salt '*' x509.get_pem_entry /etc/pki/mycert.crt pem_type=CERTIFICATE
 */
export const get_pem_entry = fn(
  { text: p.string(), pem_type: p.optional(p.string()) },
  ({ text, pem_type }) => pemEntry(text, pem_type),
)

/**
 * Return the first PEM entry of all files whose paths match a pattern, by path. Other files are left out.
 *
 * @example salt '*' x509.get_pem_entries '/etc/pki/*.crt'
 */
export const get_pem_entries = fn({ glob_path: p.string() }, ({ glob_path }) =>
  ofFiles(glob_path, (path) => pemEntry(path)),
)

/**
 * Return the public key of a certificate, or of a private key.
 *
 * @example salt '*' x509.get_public_key /etc/pki/mycert.cer
 */
export const get_public_key = fn({ key: p.secret(p.string()), passphrase }, async ({ key, passphrase }) =>
  publicPem(await publicKeyOf(key, passphrase)),
)

/**
 * Return the bits of a private key.
 *
 * @example salt '*' x509.get_private_key_size /etc/pki/mycert.key
 */
export const get_private_key_size = fn(
  { private_key: p.secret(p.string()), passphrase },
  async ({ private_key, passphrase }) => keySize(await privateKeyOf(private_key, passphrase)),
)

/**
 * Whether a private key belongs to a public one, or to a certificate.
 *
 * @example salt '*' x509.verify_private_key private_key=/etc/pki/myca.key public_key=/etc/pki/myca.crt
 */
export const verify_private_key = fn(
  { private_key: p.secret(p.string()), public_key: p.string(), passphrase },
  async ({ private_key, public_key, passphrase }) =>
    publicPem(await publicKeyOf(private_key, passphrase)) ===
    publicPem(await publicKeyOf(public_key, undefined)),
)

/**
 * Whether a certificate was signed with the key of another one; without that, with its own.
 *
 * @example salt '*' x509.verify_signature /etc/pki/mycert.pem signing_pub_key=/etc/pki/myca.crt
 */
export const verify_signature = fn(
  { certificate, signing_pub_key: p.optional(p.string()), signing_pub_key_passphrase: passphrase },
  async ({ certificate, signing_pub_key, signing_pub_key_passphrase }) => {
    const found = await readX509(certificate)
    return found.verify(
      signing_pub_key ? await publicKeyOf(signing_pub_key, signing_pub_key_passphrase) : found.publicKey,
    )
  },
)

/**
 * Whether the certificate in a file has expired.
 *
 * @example salt '*' x509.expired /etc/pki/mycert.crt
 */
export const expired = fn({ certificate }, async ({ certificate }) => {
  const left = await timeLeft(certificate)
  return left ? { path: certificate, cn: left.cn, expired: left.ms <= 0 } : {}
})

/**
 * Whether the certificate in a file will have expired in some days.
 *
 * @example salt '*' x509.will_expire '/etc/pki/mycert.crt' days=30
 */
export const will_expire = fn({ certificate, days: p.integer() }, async ({ certificate, days }) => {
  const left = await timeLeft(certificate)
  const found = { path: certificate, check_days: days }
  return left ? { ...found, cn: left.cn, will_expire: left.ms <= days * DAY_MS } : {}
})

const hasMd5 = (opts: Context['opts']): boolean => opts.fips_mode !== true

/** Return how long a certificate is valid; undefined if it is not in a file. */
async function timeLeft(path: string): Promise<{ cn: string | undefined; ms: number } | undefined> {
  if (!(await stat(path).catch(() => undefined))?.isFile()) return undefined
  const found = await readX509(path)
  return { cn: namesOf(found.subject).CN, ms: Date.parse(found.validTo) - Date.now() }
}

async function privateKeyOf(given: string, passphrase: string | undefined): Promise<KeyObject> {
  const pem = await pemEntry(given)
  try {
    return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
  } catch (cause) {
    throw new SaltInvocationError(`The key cannot be read: ${(cause as Error).message}`)
  }
}

async function ofFiles<T>(pattern: string, read: (path: string) => Promise<T>): Promise<Record<string, T>> {
  const found: Record<string, T> = {}
  for (const path of await expandSources([pattern])) {
    if (!(await stat(path).catch(() => undefined))?.isFile()) continue
    const value = await read(path).catch((cause: unknown) => {
      if (cause instanceof SaltInvocationError) return undefined
      throw cause
    })
    if (value !== undefined) found[path] = value
  }
  return found
}
