import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { createFileExclusive, writeFileAtomic } from '../base/files/atomic-file.ts'
import { irregularityOf } from '../base/files/regular-file.ts'
import { PrivateKey } from '../crypto/index.ts'
import { readPrivateFile, unusableKey } from './key-permissions.ts'

export interface KeyPairSettings {
  readonly pkiDir: string
  /** Base name of the files `<name>.pem` and `<name>.pub`. */
  readonly name: string
  /** Size of a new key in bits. */
  readonly bits: number
  /** Whether the group may read the private key. */
  readonly permissive: boolean
}

/**
 * Read a key pair, or create it. The public file is derived from the private key, so a crash at any moment leaves a
 * consistent pair. Several processes may do this at once.
 *
 * @throws SaltError PERMISSIONS, KEY_INVALID
 */
export async function loadKeyPair({ pkiDir, name, bits, permissive }: KeyPairSettings): Promise<PrivateKey> {
  const path = join(pkiDir, `${name}.pem`)
  const text = (await readPrivateFile(path, permissive)) ?? (await create(path, bits, permissive))
  const key = parse(path, text)
  await keepPublicFile(join(pkiDir, `${name}.pub`), key)
  return key
}

/** Create the file and return its text: ours, or that of a process that was faster. */
async function create(path: string, bits: number, permissive: boolean): Promise<string> {
  const { pem } = await PrivateKey.generate(bits)
  if (await createFileExclusive(path, `${pem}\n`, { mode: 0o400 })) return pem
  return (await readPrivateFile(path, permissive)) ?? pem
}

function parse(path: string, text: string): PrivateKey {
  try {
    return PrivateKey.parse(text)
  } catch (error) {
    throw unusableKey(path, `${path}: ${messageOf(error)}`, error)
  }
}

async function keepPublicFile(path: string, { publicKey }: PrivateKey): Promise<void> {
  const text = irregularityOf(path) ? '' : await readFile(path, 'utf8').catch(() => '')
  if (text.trim() !== publicKey.pem) await writeFileAtomic(path, `${publicKey.pem}\n`, { mode: 0o644 })
}
