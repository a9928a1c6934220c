import { isIPv6 } from 'node:net'
import type { ClientSettings, KeepAlive, ServerSettings } from '../contract.ts'

/** Largest frame a peer may send if nothing else is said: what Salt's decoders take (wire protocol §1). Bytes. */
const MAX_FRAME = 100 * 1024 * 1024

/** Of servers. With a ZAP domain libzmq takes no ZMTP 1 and 2, which know no time-outs: HTTP passes for such a peer. */
export const serverOptions = (settings: ServerSettings) => ({ ...peerOptions(settings), zapDomain: 'salt' })

/** Socket options of both sides. */
export const peerOptions = (settings: ServerSettings | ClientSettings) => ({
  ipv6: settings.ipv6 ?? isIPv6(settings.host),
  maxMessageSize: settings.maxFrameSize ?? MAX_FRAME,
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
