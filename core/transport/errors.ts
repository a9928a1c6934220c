import { messageOf, SaltError } from '../base/errors.ts'

/** Create the error for a request without an answer in time. */
export const timedOut = (host: string, port: number, timeoutMs: number): SaltError =>
  new SaltError(
    'TIMEOUT',
    `No answer from ${host}:${port} within ${timeoutMs / 1000} seconds; check that the master runs and can be reached.`,
    { host, port, timeoutMs },
  )

/** Create the error for a server that listens, but completes no handshake. */
export const noHandshake = (host: string, port: number, timeoutMs: number): SaltError =>
  new SaltError(
    'TIMEOUT',
    `No answer from ${host}:${port} within ${timeoutMs / 1000} seconds: ${noHandshakeText}.`,
    { host, port, timeoutMs, noHandshake: true },
  )

/** The explanation of an error for which {@link hadNoHandshake} is true. */
export const noHandshakeText =
  'a process listens there but completes no handshake. The master may have too many open files (see its log) or hang'

export const hadNoHandshake = (error: unknown): boolean =>
  SaltError.is(error) && error.data.noHandshake === true

/** Create the error for a connection lost while a request was pending. */
export const lostConnection = (host: string, port: number): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `The connection to ${host}:${port} was lost before the answer came; it is not known whether the request was carried out.`,
    { host, port },
  )

/** Create the error for an address where nothing listens. */
export const refusedConnection = (host: string, port: number): SaltError =>
  new SaltError('MASTER_UNREACHABLE', `Nothing listens at ${host}:${port}; check that the master runs.`, {
    host,
    port,
  })

/** Create the error for a peer with which the handshake of TLS or WebSocket failed. */
export const uselessConnection = (host: string, port: number, reason: Error): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `Something listens at ${host}:${port}, but no connection can be established: ${messageOf(reason)}. ` +
      "Check that 'transport' and 'ssl' are the same on both ends.",
    { host, port },
    { cause: reason },
  )

/** Create the error for requests of a client that was closed. */
export const requestCancelled = (host: string, port: number): SaltError =>
  new SaltError(
    'CANCELLED',
    `The request to ${host}:${port} was cancelled: the connection is being closed.`,
    {
      host,
      port,
    },
  )
