/** Names of the RSA operations in messages (wire protocol §2, §18). The default is SHA-1. */
export type EncryptionAlgorithm = 'OAEP-SHA1' | 'OAEP-SHA224'
export type SigningAlgorithm = 'PKCS1v15-SHA1' | 'PKCS1v15-SHA224'

const encryptionHashes = new Map<unknown, string>([
  ['OAEP-SHA1', 'sha1'],
  ['OAEP-SHA224', 'sha224'],
])
const signingHashes = new Map<unknown, string>([
  ['PKCS1v15-SHA1', 'sha1'],
  ['PKCS1v15-SHA224', 'sha224'],
])

export function isEncryptionAlgorithm(name: unknown): name is EncryptionAlgorithm {
  return encryptionHashes.has(name)
}

export function isSigningAlgorithm(name: unknown): name is SigningAlgorithm {
  return signingHashes.has(name)
}

export function encryptionHash(algorithm: EncryptionAlgorithm): string {
  return encryptionHashes.get(algorithm)!
}

export function signingHash(algorithm: SigningAlgorithm): string {
  return signingHashes.get(algorithm)!
}
