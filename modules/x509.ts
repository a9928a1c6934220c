/** Read and check certificates and keys: PEM texts, or paths of files with them. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { fillFileAtomic } from '#internal'
import { expandSources } from './_archive/sources.ts'
import { entriesOf, isMapping, mergedMaps } from './_values/traverse.ts'
import { describe, keySize, namesOf, publicKeyOf, publicPem, readX509 } from './_x509/certificate.ts'
import { pemEntry } from './_x509/pem.ts'
import { readRequest, readRevocations, revocationList } from './_x509/requests.ts'
import { isSignedBy } from './_x509/signature.ts'

const certificate = p.string()
const passphrase = p.secret(p.optional(p.string()))
const DAY_MS = 86_400_000

/**
 * Describe a certificate: names, times, fingerprints, public key and extensions.
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
 * Return a policy of `x509_signing_policies` of the pillar, or else of the configuration: with the certificate that signs, and without
 * its private key.
 *
 * @example salt '*' x509.get_signing_policy www
 */
export const get_signing_policy = fn(
  { signing_policy_name: p.string() },
  async ({ signing_policy_name }, { pillar, opts }) => {
    const found = [pillar, opts]
      .map(({ x509_signing_policies: policies }) => (isMapping(policies) ? policies : {}))
      .map((policies) => entriesOf(policies).find(([name]) => name === signing_policy_name)?.[1])
      .find(Boolean)
    if (!found) return `Signing policy ${signing_policy_name} does not exist.`
    const maps = Array.isArray(found) ? found : [found]
    const { signing_private_key: _, ...policy } = mergedMaps(...maps)
    const { signing_cert } = policy
    if (typeof signing_cert !== 'string') return policy
    return { ...policy, signing_cert: await pemEntry(signing_cert, 'CERTIFICATE') }
  },
)

/**
 * Return the public key of a certificate, of a request, or of a private key.
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

/**
 * Describe a request for a certificate.
 *
 * @example salt '*' x509.read_csr /etc/pki/mycert.csr
 */
export const read_csr = fn({ csr: p.string() }, ({ csr }) => readRequest(csr))

/**
 * Describe a revocation list.
 *
 * @example salt '*' x509.read_crl /etc/pki/mycrl.crl
 */
export const read_crl = fn({ crl: p.string() }, ({ crl }) => readRevocations(crl))

/**
 * Whether a revocation list was signed with the key of a certificate. The exit code says so, too.
 *
 * @example salt '*' x509.verify_crl crl=/etc/pki/myca.crl cert=/etc/pki/myca.crt
 */
export const verify_crl = fn({ crl: p.string(), cert: p.string() }, async ({ crl, cert }, context) => {
  const isSigned = isSignedBy(await revocationList(crl), (await readX509(cert)).publicKey)
  if (!isSigned) context.retcode = 1
  return isSigned
})

/**
 * Write the first PEM entry of a text or a file into a file that only its owner may read. With `overwrite=False` and
 * `pem_type=CERTIFICATE`, the private key and the DH parameters that the file has stay.
 *
 * @example salt '*' x509.write_pem "-----BEGIN CERTIFICATE-----MIIGMzCCBBugA..." path=/etc/pki/mycert.crt
 */
export const write_pem = fn(
  {
    text: p.secret(p.string()),
    path: p.string(),
    overwrite: p.default(p.boolean(), true),
    pem_type: p.optional(p.string()),
  },
  async ({ text, path, overwrite, pem_type }) => {
    const entry = await pemEntry(text, pem_type)
    const keeps = pem_type === 'CERTIFICATE' && !overwrite
    const kept = async (type: string) => (keeps ? pemEntry(path, type).catch(() => '') : '')
    const key = (await kept('RSA PRIVATE KEY')) || (await kept('PRIVATE KEY'))
    await writeSecret(path, key + entry + (await kept('DH PARAMETERS')))
    return `PEM written to ${path}`
  },
)

const hasMd5 = (opts: Context['opts']): boolean => opts.fips_mode !== true

/** Return how long a certificate is valid; undefined if it is not in a file. */
async function timeLeft(path: string): Promise<{ cn: string | undefined; ms: number } | undefined> {
  if (!(await stat(path).catch(() => undefined))?.isFile()) return undefined
  const found = await readX509(path)
  return { cn: namesOf(found.subject).CN, ms: Date.parse(found.validTo) - Date.now() }
}

/** Replace a file by one that only its owner may read. */
async function writeSecret(path: string, text: string): Promise<void> {
  try {
    await fillFileAtomic(path, (file) => file.writeFile(text), { mode: 0o600 })
  } catch (cause) {
    throw new CommandExecutionError(`${path} cannot be written: ${(cause as Error).message}`)
  }
}

async function privateKeyOf(given: string, passphrase: string | undefined): Promise<KeyObject> {
  const pem = await pemEntry(given, undefined, '(?:RSA )?PRIVATE KEY')
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
