import { PermissionViolationError } from '@nats-io/transport-node'
import { messageOf, SaltError } from '../../base/errors.ts'
import { type NatsSettings, placeOf } from './settings.ts'

/** Create the error for a request without an answer in time. `problem` says why NATS cannot be reached. */
export const timedOut = (nats: NatsSettings, timeoutMs: number, problem: string | undefined): SaltError =>
  new SaltError(
    'TIMEOUT',
    problem
      ? `No answer within ${timeoutMs / 1000} seconds: ${problem}`
      : `No answer from a master over ${placeOf(nats)} within ${timeoutMs / 1000} seconds; check that one runs with nats.prefix '${nats.prefix}'.`,
    { servers: nats.servers, timeoutMs },
  )

/** Create the error for a request while no master serves. */
export const noMaster = (nats: NatsSettings): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `No master takes requests over ${placeOf(nats)}; check that one runs with nats.prefix '${nats.prefix}'.`,
    { servers: nats.servers },
  )

/** Create the error for a request to one of several masters that is not there. It was not carried out. */
export const masterGone = (nats: NatsSettings, master: string): SaltError =>
  new SaltError(
    'MASTER_GONE',
    `The master ${master} takes no requests over ${placeOf(nats)} at the moment.`,
    {
      servers: nats.servers,
      master,
    },
  )

/** Create the error for a connection lost while a request was pending. */
export const lostConnection = (nats: NatsSettings): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `The connection over ${placeOf(nats)} was lost before the answer came; it is not known whether the request was carried out.`,
    { servers: nats.servers },
  )

export const requestCancelled = (nats: NatsSettings): SaltError =>
  new SaltError(
    'CANCELLED',
    `The request over ${placeOf(nats)} was cancelled: the connection is being closed.`,
    {
      servers: nats.servers,
    },
  )

export const refusesCredentials = (error: unknown): boolean =>
  error instanceof Error && ['AuthorizationError', 'UserAuthenticationExpiredError'].includes(error.name)

export const connectionLost = (nats: NatsSettings): string =>
  `The connection to ${placeOf(nats)} was lost, and is made again as soon as a server can be reached.`

/** Say what a server reports about the connection, which goes on, as a sentence. */
export function serverProblem(nats: NatsSettings, error: unknown): string {
  if (error instanceof PermissionViolationError)
    return `${placeOf(nats)} does not let this user ${error.operation === 'publish' ? 'publish' : 'subscribe'} to ${error.subject}. Give it that permission, see docs/transports.md.`
  return refusesCredentials(error)
    ? connectionProblem(nats, error)
    : `${placeOf(nats)} reports: ${messageOf(error)}. Compare the limits of the user and of the servers with what this fleet needs, see docs/transports.md.`
}

/** Explain why a connection to NATS failed, as a sentence. */
export function connectionProblem(nats: NatsSettings, error: unknown): string {
  const cause = (error as { cause?: unknown } | undefined)?.cause ?? error
  const place = placeOf(nats)
  if (refusesCredentials(error))
    return `${place} refuses the credentials. Check user, password, token or credentials in the option 'nats'.`
  if (messageOf(error).includes("does not support 'tls'"))
    return `${place} has no TLS. Remove ssl from the option 'nats', or turn TLS on there.`
  return `${place} cannot be reached (${messageOf(cause)}). Check that nats-server runs, and the option 'nats'.`
}

export const unreachable = (nats: NatsSettings, problem: string): SaltError =>
  new SaltError('MASTER_UNREACHABLE', problem, { servers: nats.servers })
