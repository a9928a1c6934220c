import { join } from 'node:path'
import { messageOf, SaltError } from '../base/errors.ts'
import { writeFileAtomic } from '../base/files/atomic-file.ts'
import { readIfThere } from '../base/files/read-if-there.ts'
import { irregularityOf } from '../base/files/regular-file.ts'
import type { MinionConfig } from '../config/index.ts'
import { type PrivateKey, PublicKey } from '../crypto/index.ts'
import { loadKeyPair } from './key-pair.ts'
import { checkKeyDirectory } from './key-permissions.ts'

type Config = Pick<
  MinionConfig,
  'pki_dir' | 'keysize' | 'permissive_pki_access' | 'verify_master_pubkey_sign' | 'master_sign_key_name'
>

/** The master's public key that this minion trusts, kept in one file. */
export interface KnownMasterKey {
  /** Read the key; undefined before the first sign-in. @throws SaltError KEY_INVALID */
  read(): Promise<PublicKey | undefined>
  write(key: PublicKey): Promise<void>
}

/** The key directory of a minion (wire protocol §14.3). */
export class MinionKeys {
  readonly key: PrivateKey
  /** The key that signs the master's key (`verify_master_pubkey_sign`). */
  readonly signingKey?: PublicKey
  readonly #pkiDir: string

  /**
   * Read the keys; create the minion's own (`minion.pem`, mode 0400) if absent.
   *
   * @throws SaltError PERMISSIONS, KEY_INVALID, CONFIG_INVALID
   */
  static async open(config: Config): Promise<MinionKeys> {
    const { pki_dir: pkiDir, keysize: bits, permissive_pki_access: permissive } = config
    await checkKeyDirectory(pkiDir)
    const key = await loadKeyPair({ pkiDir, name: 'minion', bits, permissive })
    return new MinionKeys(pkiDir, key, await readSigningKey(config))
  }

  private constructor(pkiDir: string, key: PrivateKey, signingKey: PublicKey | undefined) {
    this.#pkiDir = pkiDir
    this.key = key
    if (signingKey) this.signingKey = signingKey
  }

  /** Return the master's key. As in Salt, all masters of a minion share it, so the address is ignored. */
  master(_address?: string): KnownMasterKey {
    return knownMasterKey(join(this.#pkiDir, 'minion_master.pub'))
  }
}

/** Keep the master's key in the given file. */
export const knownMasterKey = (path: string): KnownMasterKey => ({
  read: () => readPublicKey(path),
  write: (key) => writeFileAtomic(path, `${key.pem}\n`, { mode: 0o644 }),
})

async function readSigningKey(config: Config): Promise<PublicKey | undefined> {
  if (!config.verify_master_pubkey_sign) return undefined
  const path = join(config.pki_dir, `${config.master_sign_key_name}.pub`)
  const key = await readPublicKey(path)
  if (key) return key
  throw new SaltError(
    'CONFIG_INVALID',
    `verify_master_pubkey_sign is set, but ${path} is missing. Copy the file of that name from the master's pki_dir.`,
    { path },
  )
}

async function readPublicKey(path: string): Promise<PublicKey | undefined> {
  const irregularity = irregularityOf(path)
  if (irregularity) throw notTrusted(path, `${path} ${irregularity}.`)
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  try {
    return PublicKey.parse(text)
  } catch (error) {
    throw notTrusted(path, `${path}: ${messageOf(error)}`)
  }
}

const notTrusted = (path: string, problem: string): SaltError =>
  new SaltError(
    'KEY_INVALID',
    `${problem} Delete the file to trust the master's key again at the next sign-in.`,
    { path },
  )
