import { createHash } from 'node:crypto'
import { SaltError } from './errors.ts'

/** One form for PEM texts that mean the same: no white space around, `\n` line ends, none at the end (§2). */
export function normalisePem(pem: string): string {
  return pem.trim().replace(/\r\n?/g, '\n')
}

/**
 * What people compare (`salt-key -f`, `master_finger`): the hash over the lines between header and footer, each with
 * its line end (§6.4), as hex pairs with colons. @throws SaltError CONFIG_INVALID for an unknown hash.
 */
export function fingerprint(pem: string, hash: string): string {
  const lines = normalisePem(pem).split('\n').slice(1, -1)
  const body = lines.map((line) => `${line}\n`).join('')
  return digest(hash, body).replace(/..(?!$)/g, '$&:')
}

function digest(hash: string, text: string): string {
  try {
    return createHash(hash).update(text).digest('hex')
  } catch {
    throw new SaltError(
      'CONFIG_INVALID',
      `There is no hash "${hash}"; set hash_type to sha256 or another of OpenSSL's.`,
    )
  }
}
