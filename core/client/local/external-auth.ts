import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { valueText } from '../../dialect/json.ts'
import type { MasterLink } from './master-link.ts'
import { askMaster, connectMaster } from './master-requests.ts'

/** Credentials for a backend of `external_auth`: `password`, or other fields that the backend reads. */
type ExternalCredentials = Credentials & { readonly eauth: string; readonly username: string }

/** Proof of identity of a client without a key of the master's host (wire protocol §8.1, §8.3). */
export type ExternalAuth = ExternalCredentials | { readonly token: string }

/** How long to wait for the answer to a request with credentials: the master first asks a backend, which may take 20 s. */
export const AUTHENTICATION_MS = 30_000

/** Fields that a backend reads, in most cases a user and a password. */
type Credentials = Readonly<Record<string, unknown>>

/** A token and its properties. */
export type Token = Credentials & { readonly token: string }

/**
 * Let the master make a token for these credentials: `{token, name, start, expire, eauth}` (wire protocol §8.3).
 * @throws SaltError AUTHENTICATION_FAILED, LOCKED_OUT, MASTER_UNREACHABLE
 */
export async function obtainToken(config: MasterConfig, credentials: Credentials): Promise<Token> {
  const requests = connectMaster(config)
  try {
    return await requestToken((load, ms) => askMaster(requests, config, load, ms), credentials)
  } finally {
    await requests.close()
  }
}

/** Request a token over an open link. */
export async function requestToken(ask: MasterLink['ask'], credentials: Credentials): Promise<Token> {
  const reply = await ask({ ...credentials, cmd: 'mk_token' }, AUTHENTICATION_MS)
  if (isRecord(reply) && typeof reply.token === 'string') return { ...reply, token: reply.token }
  if (isRecord(reply) && isRecord(reply.error) && isLockedOut(reply))
    throw lockedOutError(String(reply.error.message), reply)
  const later = reasonIn(reply)
  if (later !== undefined) throw new SaltError('MASTER_UNREACHABLE', later, { reason: later })
  throw new SaltError('AUTHENTICATION_FAILED', failed(credentials))
}

/** Whether a master of salt-ts refuses to check passwords for a while. */
export const isLockedOut = ({ retry_after }: Credentials): boolean => typeof retry_after === 'number'

export const lockedOutError = (sentence: string, { retry_after }: Credentials): SaltError =>
  new SaltError('LOCKED_OUT', sentence, { retry_after })

const failed = ({ eauth, username }: Credentials): string =>
  `The master refused to create a token. ${whyNotKnown(valueText(username), valueText(eauth))}`

/** Return what may be wrong, as far as the client can know. */
export function whyNotAuthenticated(auth: ExternalAuth): string {
  if ('token' in auth) return 'The token is not valid or has expired; create a new one with --make-token.'
  return whyNotKnown(auth.username, auth.eauth)
}

const whyNotKnown = (username: string, eauth: string): string =>
  `The password of ${username} is wrong, or external_auth of the master does not name the eauth backend ${eauth} ` +
  'or this user.'

function reasonIn(reply: unknown): string | undefined {
  return isRecord(reply) && isRecord(reply.error)
    ? `The master refused to create a token. ${reply.error.message}`
    : undefined
}
