import { createHash } from 'node:crypto'
import { SaltError } from './errors.ts'

/** Normalise PEM text: no white space around it, `\n` between lines, none at the end (wire protocol §2). */
export function normalisePem(pem: string): string {
  return pem.trim().replace(/\r\n?/g, '\n')
}

/**
 * Return the fingerprint of a key (`salt-key -f`, `master_finger`): the hash over the lines between header and footer,
 * each with its line end (wire protocol §6.4), as hex pairs with colons.
 * @throws SaltError CONFIG_INVALID for an unknown hash
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
      `hash_type "${hash}" is not supported: use sha256 or another hash of OpenSSL.`,
    )
  }
}
