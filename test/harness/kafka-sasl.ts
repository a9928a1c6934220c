/** The server's part of SASL, as brokers of Kafka do it: PLAIN and SCRAM-SHA-256 (RFC 5802). */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

interface Step {
  readonly answer?: string
  readonly isOver: boolean
  readonly isRight?: boolean
}

/** Takes what a client says, step by step. */
export type SignIn = (said: string) => Step

/** Undefined for a mechanism that is not known. */
export function signIn(mechanism: string, users: Readonly<Record<string, string>> = {}): SignIn | undefined {
  if (mechanism === 'PLAIN') return plain(users)
  return mechanism === 'SCRAM-SHA-256' ? scram(users) : undefined
}

const plain =
  (users: Readonly<Record<string, string>>): SignIn =>
  (said) => {
    const [, user = '', password] = said.split('\0')
    return { isOver: true, isRight: users[user] !== undefined && users[user] === password }
  }

const SALT = Buffer.from('salt of the double')
const hmac = (key: Buffer, value: string) => createHmac('sha256', key).update(value).digest()
const hash = (value: Uint8Array) => createHash('sha256').update(value).digest()

function scram(users: Readonly<Record<string, string>>): SignIn {
  let before: string | undefined
  let salted = randomBytes(32)
  return (said) => {
    if (before === undefined) {
      const [, user = '', nonce = ''] = /n=([^,]*),r=(.*)$/.exec(said) ?? []
      const answer = `r=${nonce}${randomBytes(12).toString('hex')},s=${SALT.toString('base64')},i=4096`
      before = `${said.slice('n,,'.length)},${answer}`
      salted = pbkdf2Sync(users[user] ?? randomBytes(9).toString('hex'), SALT, 4096, 32, 'sha256')
      return { answer, isOver: false }
    }
    const [withoutProof = '', proof = ''] = said.split(',p=')
    const everything = `${before},${withoutProof}`
    const stored = hash(hmac(salted, 'Client Key'))
    const signature = hmac(stored, everything)
    const key = Buffer.from(proof, 'base64').map((byte, n) => byte ^ (signature[n] ?? 0))
    const answer = `v=${hmac(hmac(salted, 'Server Key'), everything).toString('base64')}`
    return { answer, isOver: true, isRight: hash(key).equals(stored) }
  }
}
