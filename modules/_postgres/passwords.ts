import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type Log, SaltInvocationError } from 'salt-ts'

const ITERATIONS = 4096
const SCRAM = /^SCRAM-SHA-256\$\d+:[^$]+\$[^:]+:.+$/
const MD5 = /^md5[0-9a-f]{32}$/

/** Return what the server stores for a password: a hash as it is, and any other hashed, unless `method` is false. */
export async function storedPassword(
  role: string,
  password: string,
  method: boolean | string,
  log: Log,
): Promise<string> {
  if (SCRAM.test(password) || MD5.test(password) || method === false) return password
  if (method === 'scram-sha-256') return scramVerifier(password)
  if (method !== true && method !== 'md5')
    throw new SaltInvocationError(`Unknown password algorithm: ${method}`)
  log.warn('The md5 password algorithm was deprecated in PostgreSQL 10')
  return `md5${createHash('md5').update(`${password}${role}`).digest('hex')}`
}

async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16)
  const salted = await promisify(pbkdf2)(prepared(password), salt, ITERATIONS, 32, 'sha256')
  const key = (word: string) => createHmac('sha256', salted).update(word).digest()
  const stored = createHash('sha256').update(key('Client Key')).digest('base64')
  const serverKey = key('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${serverKey}`
}

/** Prepare a password as SASLprep (RFC 4013) does: odd spaces become spaces, invisible characters go, then NFKC. */
const prepared = (password: string): string =>
  password
    .replace(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g, ' ')
    .replace(/\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g, '')
    .normalize('NFKC')
