import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Paths of files in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** `cert.pem` and `key.pem` in the folder, valid for a day: a certificate that is its own authority. `names` as OpenSSL has them. */
export async function selfSigned(folder: string, names = 'IP:127.0.0.1,DNS:localhost'): Promise<Certificate> {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', '/CN=127.0.0.1', '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert],
  ])
  return { cert, key }
}
