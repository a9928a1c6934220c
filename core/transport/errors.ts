import { SaltError } from '../base/errors.ts'

/** No answer came in time. */
export const timedOut = (host: string, port: number, timeoutMs: number): SaltError =>
  new SaltError(
    'TIMEOUT',
    `No answer from ${host}:${port} within ${timeoutMs / 1000} seconds; check that the master runs and can be reached.`,
    { host, port, timeoutMs },
  )

/** The client was closed while a request was under way, or before. */
export const cancelled = (host: string, port: number): SaltError =>
  new SaltError('CANCELLED', `The request to ${host}:${port} was given up: the connection is being closed.`, {
    host,
    port,
  })
