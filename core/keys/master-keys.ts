import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { refuseIrregular } from '../base/files/regular-file.ts'
import type { MasterConfig } from '../config/index.ts'
import type { PrivateKey, SigningAlgorithm } from '../crypto/index.ts'
import { loadKeyPair } from './key-pair.ts'
import { checkKeyDirectory } from './key-permissions.ts'

export interface MasterKeys {
  readonly key: PrivateKey
  /** The separate key that signs `key` (`master_sign_pubkey`). */
  readonly signing?: PrivateKey
  /**
   * Return `pub_sig` of the sign-in reply: base64 text with a final newline. Undefined without `master_sign_pubkey`
   * (wire protocol §6.3).
   */
  pubSignature(algorithm: SigningAlgorithm): string | undefined
}

type Config = Pick<
  MasterConfig,
  | 'pki_dir'
  | 'keysize'
  | 'permissive_pki_access'
  | 'master_sign_pubkey'
  | 'master_sign_key_name'
  | 'master_use_pubkey_signature'
  | 'master_pubkey_signature'
>

/**
 * Read `master.pem` and, if configured, the signing key; create them (mode 0400) if absent. Several processes may do
 * this at once.
 *
 * @throws SaltError PERMISSIONS if others may read or replace them, KEY_INVALID, CONFIG_INVALID
 */
export async function loadMasterKeys(config: Config): Promise<MasterKeys> {
  const { pki_dir: pkiDir, keysize: bits, permissive_pki_access: permissive } = config
  await checkKeyDirectory(pkiDir)
  const load = (name: string) => loadKeyPair({ pkiDir, name, bits, permissive })
  const key = await load('master')
  if (!config.master_sign_pubkey) return { key, pubSignature: () => undefined }
  if (config.master_use_pubkey_signature) {
    const made = await readSignature(join(pkiDir, config.master_pubkey_signature))
    return { key, pubSignature: () => made }
  }
  const signing = await load(config.master_sign_key_name)
  return { key, signing, pubSignature: signatures(key, signing) }
}

/** Read a signature that was made beforehand, so that the signing key need not be on this host. */
async function readSignature(path: string): Promise<string> {
  try {
    refuseIrregular(path)
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new SaltError(
      'CONFIG_INVALID',
      `master_use_pubkey_signature is set, but the signature file ${path} cannot be read. Make it with salt-key --gen-signature.`,
      { path },
      { cause: error },
    )
  }
}

/** Cache signatures by algorithm: they are deterministic. */
function signatures(key: PrivateKey, signing: PrivateKey): (algorithm: SigningAlgorithm) => string {
  const made = new Map<SigningAlgorithm, string>()
  return (algorithm) => {
    const known = made.get(algorithm)
    if (known) return known
    const signature = `${signing.sign(Buffer.from(key.publicKey.pem), algorithm).toString('base64')}\n`
    made.set(algorithm, signature)
    return signature
  }
}
