import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isRecord } from '../../wire/bytes.ts'

/** Who a request says to be, and by what. */
export interface Claim {
  readonly username?: string
  /** Stands for what is claimed, without telling it. */
  readonly digest: string
}

const NAMES = ['username', 'password', 'eauth', 'sharedsecret']

/** Each different set of credentials in a body: commands may carry some each. */
export function claimsIn(body: unknown): Claim[] {
  const claims = new Map<string, Claim>()
  for (const part of Array.isArray(body) ? body : [body]) {
    const claim = isRecord(part) ? claimOf(part) : undefined
    if (claim) claims.set(claim.digest, claim)
  }
  return [...claims.values()]
}

function claimOf(part: Record<string, unknown>): Claim | undefined {
  if (typeof part.token === 'string') return { digest: digestOf(part.token) }
  const { username } = part
  if (typeof username !== 'string' && part.eauth === undefined) return undefined
  const digest = digestOf(JSON.stringify(NAMES.map((name) => String(part[name]))))
  return { digest, ...(typeof username === 'string' && { username }) }
}

/** What a request brings as its token, whether that may be used or not. */
export function tokenBrought({ headers }: FastifyRequest): string | undefined {
  const header = headers['x-auth-token']
  if (typeof header === 'string' && header !== '') return header
  return /(?:^|;\s*)session_id=([^;\s]+)/.exec(headers.cookie ?? '')?.[1]
}

/** Of this process: elsewhere it does not tell whether somebody has guessed right. */
const OWN_KEY = randomBytes(32)

export const digestOf = (secret: string): string =>
  createHmac('sha256', OWN_KEY).update(secret).digest('base64')
