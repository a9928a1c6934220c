import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SignatureRequest } from '../author/master.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { createFileExclusive, writeFileAtomic } from '../base/files/atomic-file.ts'
import { readRegularFile } from '../base/files/regular-file.ts'
import type { MasterConfig } from '../config/index.ts'
import { fingerprint, PrivateKey, PublicKey } from '../crypto/index.ts'
import { findUser } from './users.ts'

/** Generate a key pair and return both keys as PEM texts. Nothing is stored. */
export async function generateKeyTexts(bits = 2048): Promise<{ priv: string; pub: string }> {
  const key = await PrivateKey.generate(bits)
  return { priv: key.pem, pub: key.publicKey.pem }
}

export interface KeyPairFiles {
  readonly keydir: string
  readonly keyname: string
  readonly keysize: number
  /** User who will own the files; only root can change the owner. */
  readonly user?: string | undefined
  /** Hash type of the fingerprint. */
  readonly hash?: string
}

export interface MadeKeyPair {
  readonly paths: readonly [secret: string, open: string]
  readonly fingerprint: string
  /** False if there was a key already, which was left unchanged. */
  readonly made: boolean
}

/**
 * Write `<name>.pem` (mode 0400) and `<name>.pub` to a folder, which is created if missing. An existing private key is
 * never replaced.
 */
export async function generateKeyFiles(files: KeyPairFiles): Promise<MadeKeyPair> {
  const { keydir, keyname, keysize, user, hash = 'sha256' } = files
  const paths = [join(keydir, `${keyname}.pem`), join(keydir, `${keyname}.pub`)] as const
  if (!/^[^/\0]+$/.test(keyname))
    throw new SaltError('INVALID_ARGUMENTS', `'${keyname}' cannot be a file name.`)
  await mkdir(keydir, { recursive: true })
  const present = await readRegularFile(paths[0])
  const key = present === undefined ? await PrivateKey.generate(keysize) : privateKeyIn(paths[0], present)
  const made = present === undefined && (await createFileExclusive(paths[0], `${key.pem}\n`, { mode: 0o400 }))
  if (present === undefined && !made) return generateKeyFiles(files) // another process was faster, so its key is used
  await writeFileAtomic(paths[1], `${key.publicKey.pem}\n`, { mode: 0o644 })
  const owner = user === undefined ? undefined : await findUser(user)
  if (made && owner && process.geteuid?.() === 0) {
    for (const path of paths) await chown(path, owner.uid, owner.gid)
  }
  return { paths, fingerprint: fingerprint(key.publicKey.pem, hash), made }
}

type Config = Pick<
  MasterConfig,
  'pki_dir' | 'keysize' | 'user' | 'master_sign_key_name' | 'master_pubkey_signature'
>

/**
 * Sign the master's public key with the signing key, for `master_use_pubkey_signature`, and return the signature's
 * path.
 *
 * @throws SaltError KEY_INVALID, also if there is a different signature already
 */
export async function generateSignature(config: Config, request: SignatureRequest = {}): Promise<string> {
  const { pki_dir, keysize, user, master_sign_key_name: keyname, master_pubkey_signature } = config
  const pub = request.pub || join(pki_dir, 'master.pub')
  const offered = await readRegularFile(pub)
  if (offered === undefined)
    throw new SaltError(
      'KEY_INVALID',
      `The public key ${pub} does not exist. Start the master once to create it, or name one with --pub.`,
    )
  const priv = request.priv || join(pki_dir, `${keyname}.pem`)
  if (request.autoCreate && !request.priv) {
    await generateKeyFiles({ keydir: pki_dir, keyname, keysize: request.keysize ?? keysize, user })
  }
  const secret = await readRegularFile(priv)
  if (secret === undefined) {
    throw new SaltError('KEY_INVALID', `There is no signing key ${priv}; --auto-create makes one in pki_dir.`)
  }
  const text = signatureOf(publicKeyIn(pub, offered), privateKeyIn(priv, secret))
  const path = join(request.signaturePath || pki_dir, master_pubkey_signature)
  const isNew = await createFileExclusive(path, text, { mode: 0o644 })
  if (isNew || (await readRegularFile(path)) === text) return path
  throw new SaltError(
    'KEY_INVALID',
    `${path} holds a signature of another key or by another signing key, and is not overwritten. Remove it first.`,
    { path },
  )
}

/** Sign the key as masters send it, without a final newline. */
function signatureOf(key: PublicKey, signing: PrivateKey): string {
  return `${signing.sign(Buffer.from(key.pem), 'PKCS1v15-SHA1').toString('base64')}\n`
}

function privateKeyIn(path: string, text: string): PrivateKey {
  return parsed(path, () => PrivateKey.parse(text))
}

function publicKeyIn(path: string, text: string): PublicKey {
  return parsed(path, () => PublicKey.parse(text))
}

function parsed<T>(path: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new SaltError('KEY_INVALID', `${path}: ${messageOf(error)}`, { path }, { cause: error })
  }
}
