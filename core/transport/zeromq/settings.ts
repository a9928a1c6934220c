import { isIPv6 } from 'node:net'
import { allowedOpenFiles } from '../../process/open-files.ts'
import { MAX_MESSAGE_BYTES } from '../../wire/message-size.ts'
import type { ClientSettings, KeepAlive, ServerSettings } from '../contract.ts'

const BACKLOG_FRACTION = 8
/** Limit of open files below which handshakes get less time, since a peer that does not complete one occupies a file. */
const FEW_FILES = 4_096
const SHORT_HANDSHAKE_MS = 2_000

/**
 * Return the socket options of servers. With a ZAP domain libzmq refuses ZMTP 1 and 2, whose handshakes have no timeout;
 * it would take an HTTP client for such a peer.
 */
export const serverOptions = (settings: ServerSettings, allowed = allowedOpenFiles() ?? Infinity) => ({
  ...peerOptions(settings),
  backlog: backlogOf(settings, allowed),
  zapDomain: 'salt',
  ...(allowed < FEW_FILES && { handshakeInterval: SHORT_HANDSHAKE_MS }),
})

/**
 * Return the length of the queue of new connections. libzmq accepts all of them at once, so it is limited to a part of the
 * files that this process may open: otherwise a burst could take all of them before connections are refused.
 */
const backlogOf = ({ backlog = 1_000 }: ServerSettings, allowed: number) =>
  Math.min(backlog, Math.floor(allowed / BACKLOG_FRACTION))

/** Return the socket options of both servers and clients. */
export const peerOptions = (settings: ServerSettings | ClientSettings) => ({
  ipv6: settings.ipv6 ?? isAddress6(settings.host),
  maxMessageSize: settings.maxFrameSize ?? MAX_MESSAGE_BYTES,
  ...keepAliveOptions(settings.keepAlive),
})

const defaultKeepAlive: KeepAlive = { idle: 300, count: -1, interval: -1 }

const keepAliveOptions = (keepAlive: KeepAlive | false = defaultKeepAlive) =>
  keepAlive && {
    tcpKeepalive: 1,
    tcpKeepaliveIdle: keepAlive.idle,
    tcpKeepaliveCount: keepAlive.count,
    tcpKeepaliveInterval: keepAlive.interval,
  }

/** Return the endpoint `tcp://host:port`, for a client with a source address `tcp://source:0;host:port`. */
export function endpointOf({ host, port, sourceAddress }: ClientSettings): string {
  const source = sourceAddress ? `${bracketed(sourceAddress)}:0;` : ''
  return `tcp://${source}${bracketed(host)}:${port}`
}

const bracketed = (host: string) => (isAddress6(host) ? `[${host}]` : host)

/** Whether a host is an IPv6 address. Looks for its colon first: the regular expression of `isIPv6` takes Node 3 ms to compile. */
const isAddress6 = (host: string) => host.includes(':') && isIPv6(host)
