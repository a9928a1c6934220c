import { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { askMaster, connectMaster } from './master-requests.ts'

/** Who somebody is to a backend of `external_auth`. */
export interface ExternalCredentials {
  readonly eauth: string
  readonly username: string
  readonly password: string
}

/** How a client proves who it is without a key of the master's host (wire protocol §8.1, §8.3). */
export type ExternalAuth = ExternalCredentials | { readonly token: string }

/** Checking a password may take a backend so long. Milliseconds. */
const TIMEOUT_MS = 30_000

/**
 * Let the master make a token for these credentials.
 * @throws SaltError AUTHENTICATION_FAILED, MASTER_UNREACHABLE
 */
export async function makeToken(config: MasterConfig, credentials: ExternalCredentials): Promise<string> {
  const requests = connectMaster(config)
  try {
    const reply = await askMaster(requests, config, { cmd: 'mk_token', ...credentials }, TIMEOUT_MS)
    if (isRecord(reply) && typeof reply.token === 'string') return reply.token
    throw new SaltError('AUTHENTICATION_FAILED', reasonIn(reply) ?? failed(credentials))
  } finally {
    await requests.close()
  }
}

const failed = (credentials: ExternalCredentials): string =>
  `The master makes no token. ${whyUnknown(credentials)}`

/** What may be wrong, as far as it can be known on this side. */
export function whyUnknown(auth: ExternalAuth): string {
  if ('token' in auth) return 'It does not know the token, or no longer; make a new one with --make-token.'
  return (
    `The password of ${auth.username} is wrong, or external_auth of the master does not name the eauth backend ` +
    `${auth.eauth} or this user.`
  )
}

function reasonIn(reply: unknown): string | undefined {
  return isRecord(reply) && isRecord(reply.error) ? String(reply.error.message) : undefined
}
