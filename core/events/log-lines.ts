import type { Log } from '../author/context.ts'

/** The component of the event bus in logs. */
export const EVENT_LOG = 'utils.event'

export const SENDING_EVENT = 'Sending event: tag = {tag}; data = {data}'

interface Sockets {
  readonly name?: string
  readonly pubPath: string
  readonly pullPath: string
}

/** Log the addresses of the sockets of a bus. */
export function logSockets({ name = 'SaltEvent', pubPath, pullPath }: Sockets, log: Log | undefined): void {
  log?.debug('{name} PUB socket URI: {pubPath}', { name, pubPath })
  log?.debug('{name} PULL socket URI: {pullPath}', { name, pullPath })
}
