import { createHash } from 'node:crypto'
import { join } from 'node:path'

interface SocketOptions {
  readonly sock_dir: string
  readonly ipc_mode: string
  readonly max_event_size: number
}
export interface MasterSocketOptions extends SocketOptions {
  readonly tcp_master_pub_port: number
  readonly tcp_master_pull_port: number
}
export interface MinionSocketOptions extends SocketOptions {
  readonly tcp_pub_port: number
  readonly tcp_pull_port: number
  readonly hash_type: string
}

/** An event bus as it is configured. Addresses for readers and for pushing events are paths, or `tcp://host:port` with `ipc_mode: tcp`. */
export interface EventSockets {
  readonly pubPath: string
  readonly pullPath: string
  /** The name of the bus in Salt's logs. */
  readonly name: 'MasterEvent' | 'SaltEvent'
  /** Bytes; larger values in an event are trimmed. */
  readonly maxEventSize: number
}

/** Return the event sockets of a master (wire protocol §11). */
export function masterEventSockets(config: MasterSocketOptions): EventSockets {
  const {
    ipc_mode,
    sock_dir,
    tcp_master_pub_port,
    tcp_master_pull_port,
    max_event_size: maxEventSize,
  } = config
  const addresses =
    ipc_mode === 'tcp' ? loopback(tcp_master_pub_port, tcp_master_pull_port) : files(sock_dir, 'master_event')
  return { name: 'MasterEvent', ...addresses, maxEventSize }
}

/** Return the event sockets of a minion, whose names contain a part of the id's hash. */
export function minionEventSockets(config: MinionSocketOptions, id: string): EventSockets {
  const { ipc_mode, sock_dir, tcp_pub_port, tcp_pull_port, max_event_size: maxEventSize } = config
  const hash = createHash(config.hash_type).update(id, 'utf8').digest('hex').slice(0, 10)
  const addresses =
    ipc_mode === 'tcp' ? loopback(tcp_pub_port, tcp_pull_port) : files(sock_dir, `minion_event_${hash}`)
  return { name: 'SaltEvent', ...addresses, maxEventSize }
}

const files = (directory: string, file: string) => ({
  pubPath: join(directory, `${file}_pub.ipc`),
  pullPath: join(directory, `${file}_pull.ipc`),
})

const loopback = (pub: number, pull: number) => ({
  pubPath: `tcp://127.0.0.1:${pub}`,
  pullPath: `tcp://127.0.0.1:${pull}`,
})
