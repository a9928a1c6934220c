export { fingerprint } from '../base/fingerprint.ts'
export {
  type EncryptionAlgorithm,
  isEncryptionAlgorithm,
  isSigningAlgorithm,
  type SigningAlgorithm,
} from './algorithms.ts'
export { PrivateKey } from './private-key.ts'
export { PublicKey } from './public-key.ts'
export { newNonce, secretsEqual } from './secrets.ts'
export { makeSelfSignedCertificate } from './self-signed.ts'
export { SymmetricKey } from './symmetric-key.ts'
