/** Read certificates. */
import { createHash } from 'node:crypto'
import { fn, p, SaltInvocationError } from 'salt-ts'
import { hashName } from './_hashutil/hash-name.ts'
import { extensionsOf, namesOf, pairs, readX509 } from './_x509/certificate.ts'

/**
 * Describe a certificate, a PEM text or the path of a file: fingerprint, names, serial number, times in seconds since 1970,
 * and the extensions basicConstraints, subjectAltName and extendedKeyUsage.
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
      extensions: extensionsOf(found),
      ...(alternatives.length > 0 && { subject_alt_names: alternatives }),
    }
  },
)

const seconds = (time: string): number => Date.parse(time) / 1000

/** Return the host names and addresses among alternative names. */
const namesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?:^|, )(?:DNS|IP Address):([^,]+)/g)].map(([, name = '']) => name)),
]
