import { SaltError } from '../base/errors.ts'

/** No answer came in time. */
export const timedOut = (host: string, port: number, timeoutMs: number): SaltError =>
  new SaltError(
    'TIMEOUT',
    `No answer from ${host}:${port} within ${timeoutMs / 1000} seconds; check that the master runs and can be reached.`,
    { host, port, timeoutMs },
  )

/** The same, of a server that listens and served none of the connections made to it. */
export const keptWaiting = (host: string, port: number, timeoutMs: number): SaltError =>
  new SaltError(
    'TIMEOUT',
    `No answer from ${host}:${port} within ${timeoutMs / 1000} seconds: ${keptWaitingText}.`,
    { host, port, timeoutMs, keptWaiting: true },
  )

/** What is known of a master where {@link wasKeptWaiting}. */
export const keptWaitingText =
  'something listens there, and serves no new connection. A master that has too many files open refuses new ones, and says ' +
  'so in its log; one that hangs serves none'

export const wasKeptWaiting = (error: unknown): boolean =>
  SaltError.is(error) && error.data.keptWaiting === true

/** The server or the way to it went away while a request was under way. */
export const lostConnection = (host: string, port: number): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `The connection to ${host}:${port} was lost before the answer came; it is not known whether the request was carried out.`,
    { host, port },
  )

/** Nothing listens there. */
export const refusedConnection = (host: string, port: number): SaltError =>
  new SaltError('MASTER_UNREACHABLE', `Nothing listens at ${host}:${port}; check that the master runs.`, {
    host,
    port,
  })

/** The client was closed while a request was under way, or before. */
export const cancelled = (host: string, port: number): SaltError =>
  new SaltError('CANCELLED', `The request to ${host}:${port} was given up: the connection is being closed.`, {
    host,
    port,
  })
