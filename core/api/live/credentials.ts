import { type Claim, digestOf } from '../../auth/index.ts'
import { isRecord } from '../../base/record.ts'
import { jsonText } from '../../dialect/json.ts'
import { CREDENTIALS } from '../chunk.ts'

const NAMES = ['eauth', ...CREDENTIALS]

type Part = Readonly<Record<string, unknown>>

/**
 * Collect the different credentials in a body. Each chunk may have some of its own; a token wins over user and
 * password.
 */
export function claimsIn(body: unknown): Claim[] {
  return claimsOf(body, (part) => tokenIn(part) ?? credentialsIn(part))
}

/** Collect the credentials in a body of /login or /token, where tokens do not count. */
export const loginClaimsIn = (body: unknown): Claim[] => claimsOf(body, credentialsIn)

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
  const digest = digestOf(jsonText(NAMES.map((name) => part[name])))
  return { digest, ...(typeof username === 'string' && { username }) }
}
