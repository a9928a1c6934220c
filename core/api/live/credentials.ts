import { createHmac, randomBytes } from 'node:crypto'
import { isRecord } from '../../wire/bytes.ts'
import { CREDENTIALS } from '../chunk.ts'

/** Who a request says to be, and by what. */
export interface Claim {
  readonly username?: string
  /** Stands for what is claimed, without telling it. */
  readonly digest: string
}

const NAMES = ['eauth', ...CREDENTIALS]

type Part = Readonly<Record<string, unknown>>

/** Each different set of credentials in a body: commands may carry some each, or a token, which then counts. */
export function claimsIn(body: unknown): Claim[] {
  return claimsOf(body, (part) => tokenIn(part) ?? credentialsIn(part))
}

/** The same where one signs in: no token that is among the credentials counts. */
export const signInsIn = (body: unknown): Claim[] => claimsOf(body, credentialsIn)

function claimsOf(body: unknown, read: (part: Part) => Claim | undefined): Claim[] {
  const claims = [body].flat().map((part) => (isRecord(part) ? read(part) : undefined))
  const found = claims.filter((claim) => claim !== undefined)
  return [...new Map(found.map((claim) => [claim.digest, claim])).values()]
}

const tokenIn = ({ token }: Part): Claim | undefined =>
  typeof token === 'string' ? { digest: digestOf(token) } : undefined

function credentialsIn(part: Part): Claim | undefined {
  const { username } = part
  if (typeof username !== 'string' && part.eauth === undefined) return undefined
  const digest = digestOf(JSON.stringify(NAMES.map((name) => String(part[name]))))
  return { digest, ...(typeof username === 'string' && { username }) }
}

/** Of this process: elsewhere it does not tell whether somebody has guessed right. */
const OWN_KEY = randomBytes(32)

export const digestOf = (secret: string): string =>
  createHmac('sha256', OWN_KEY).update(secret).digest('base64')
