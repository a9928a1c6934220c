/** Public keys of SSH, as in authorized_keys. */
import { createHash } from 'node:crypto'
import { CommandExecutionError } from 'salt-ts'
import { hashName } from '../_hashutil/hash-name.ts'

export interface AuthKey {
  readonly enc: string
  readonly comment: string
  readonly options: readonly string[]
}

/** A line: options, if any, and the type of the key with what follows. */
const LINE = /^(.*?)\s?((?:sk-)?(?:ssh-|ecds)[\w@.-]+\s.+)$/

/** Read one line. Undefined for a comment, and for what is no key. */
export function readKeyLine(line: string): (AuthKey & { readonly key: string }) | undefined {
  const text = line.trim()
  if (text === '' || text.startsWith('#')) return undefined
  const [, options = '', rest = ''] = LINE.exec(text) ?? []
  const [enc, key, ...comment] = rest.split(/\s+/)
  if (!enc || !key) return undefined
  return { enc, key, comment: comment.join(' '), options: options ? options.split(',') : [] }
}

/** Write one line, without a line break. */
export function keyLine(key: string, { enc, comment, options }: AuthKey): string {
  return `${options.length > 0 ? `${options.join(',')} ` : ''}${enc} ${key} ${comment}`
}

/** Return the fingerprint of a key, as pairs of digits. Undefined for what is no key. */
export function fingerprintOf(key: string, type = 'sha256'): string | undefined {
  const name = hashName(type.toLowerCase())
  if (name === undefined)
    throw new CommandExecutionError(`The fingerprint_hash_type ${type.toLowerCase()} is not supported.`)
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(key) || key.length % 4 !== 0) return undefined
  const digest = createHash(name).update(Buffer.from(key, 'base64')).digest('hex')
  return digest.match(/../g)?.join(':')
}

const SHORT: Readonly<Record<string, string>> = {
  r: 'ssh-rsa',
  rsa: 'ssh-rsa',
  d: 'ssh-dss',
  dsa: 'ssh-dss',
  dss: 'ssh-dss',
  e: 'ecdsa-sha2-nistp256',
  ecdsa: 'ecdsa-sha2-nistp256',
  ed25519: 'ssh-ed25519',
}
const TYPE =
  /^(ssh-(rsa|dss|ed25519)|ecdsa-sha2-nistp(256|384|521)|rsa-sha2-(256|512)|(ssh-(rsa|ed25519)|rsa-sha2-(256|512)|ecdsa-sha2-nistp(256|384|521)|sk-ecdsa-sha2-nistp256|sk-ssh-ed25519)-cert-v01@openssh\.com|sk-(ecdsa-sha2-nistp256|ssh-ed25519)@openssh\.com)$/

/** Return the full name of a type of keys, such as `ssh-rsa` for `rsa`. */
export function keyType(enc: string): string {
  const name = Object.hasOwn(SHORT, enc) ? (SHORT[enc] as string) : enc
  if (TYPE.test(name)) return name
  throw new CommandExecutionError(`Incorrect encryption key type '${enc}'.`)
}

/** Begins the data of a key in the format of OpenSSH. The name of its cipher, after a length of four bytes, follows. */
const OPENSSH_MAGIC = 'openssh-key-v1\0'

/** Whether a private key is encrypted; undefined for what is no private key. */
export function needsPassphrase(text: string): boolean | undefined {
  const [, kind = '', body = ''] = /-----BEGIN ((?:\w+ )*)PRIVATE KEY-----([^-]*)/.exec(text) ?? []
  if (!/BEGIN (?:\w+\s)*PRIVATE KEY/.test(text)) return undefined
  if (kind !== 'OPENSSH ') return text.includes('ENCRYPTED')
  const data = Buffer.from(body, 'base64').toString('latin1')
  return data.startsWith(OPENSSH_MAGIC) && !data.slice(OPENSSH_MAGIC.length + 4).startsWith('none')
}
