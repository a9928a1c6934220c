import { readRegular } from '../_file/regular.ts'
import type { Tls } from './send.ts'

/** Where Debian, RedHat, SUSE and others have the certificates of authorities, in Salt's order. */
export const CA_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/tls/certs/ca-bundle.trust.crt',
  '/etc/ssl/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/var/lib/ca-certificates/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

export interface Trust {
  readonly verify_ssl: boolean
  /** A file of certificates of authorities; by default that of the host. */
  readonly ca_bundle?: string | undefined
  /** Files of a certificate of one's own and its key, or one of both. A file that does not exist is passed over. */
  readonly cert?: string | readonly string[] | undefined
}

/** Return the certificates that a request over https needs. @throws if the file of authorities cannot be read */
export async function tlsOf({ verify_ssl, ca_bundle, cert }: Trust): Promise<Tls> {
  return {
    rejectUnauthorized: verify_ssl,
    ...(verify_ssl && (await authorities(ca_bundle))),
    ...(await ownCertificate(cert)),
  }
}

async function authorities(path: string | undefined): Promise<Tls> {
  if (path !== undefined) return { ca: await readRegular(path) }
  for (const known of CA_BUNDLES) {
    const ca = await content(known)
    if (ca) return { ca }
  }
  return {}
}

async function ownCertificate(cert: Trust['cert']): Promise<Tls> {
  const [certFile, keyFile = certFile] = [cert ?? []].flat()
  const [own, key] = [await content(certFile), await content(keyFile)]
  return own && key ? { cert: own, key } : {}
}

const content = (path: string | undefined): Promise<Buffer | undefined> =>
  path === undefined ? Promise.resolve(undefined) : readRegular(path).catch(() => undefined)
