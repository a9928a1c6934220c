import { isIPv6 } from 'node:net'
import { allowedOpenFiles } from '../../base/open-files.ts'
import { MAX_MESSAGE } from '../../wire/message-size.ts'
import type { ClientSettings, KeepAlive, ServerSettings } from '../contract.ts'

const BACKLOG_PART = 8
/** A peer that does not begin to talk holds a file: where there are few, not for as long as usual. Milliseconds. */
const FEW_FILES = 4_096
const SHORT_HANDSHAKE_MS = 2_000

/** Of servers. With a ZAP domain libzmq takes no ZMTP 1 and 2, which know no time-outs: HTTP passes for such a peer. */
export const serverOptions = (settings: ServerSettings, allowed = allowedOpenFiles() ?? Infinity) => ({
  ...peerOptions(settings),
  backlog: backlogOf(settings, allowed),
  zapDomain: 'salt',
  ...(allowed < FEW_FILES && { handshakeInterval: SHORT_HANDSHAKE_MS }),
})

/**
 * Connections that may wait to be taken. libzmq takes whatever waits at once: no more than a part of the files this process
 * may open, so that those that come in a burst do not use up all of them before they can be refused.
 */
const backlogOf = ({ backlog = 1_000 }: ServerSettings, allowed: number) =>
  Math.min(backlog, Math.floor(allowed / BACKLOG_PART))

/** Socket options of both sides. */
export const peerOptions = (settings: ServerSettings | ClientSettings) => ({
  ipv6: settings.ipv6 ?? isIPv6(settings.host),
  maxMessageSize: settings.maxFrameSize ?? MAX_MESSAGE,
  ...keepAliveOptions(settings.keepAlive),
})

const usual: KeepAlive = { idle: 300, count: -1, interval: -1 }

const keepAliveOptions = (wanted: KeepAlive | false = usual) =>
  wanted && {
    tcpKeepalive: 1,
    tcpKeepaliveIdle: wanted.idle,
    tcpKeepaliveCount: wanted.count,
    tcpKeepaliveInterval: wanted.interval,
  }

/** `tcp://host:port`, for a client with a source address `tcp://source:0;host:port`. */
export function endpointOf({ host, port, sourceAddress }: ClientSettings): string {
  const source = sourceAddress ? `${bracketed(sourceAddress)}:0;` : ''
  return `tcp://${source}${bracketed(host)}:${port}`
}

const bracketed = (host: string) => (isIPv6(host) ? `[${host}]` : host)
