import { createHash } from 'node:crypto'
import { join } from 'node:path'

interface SocketOptions {
  readonly sock_dir: string
  readonly ipc_mode: string
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

/** Addresses for readers and for pushing events: paths, or `tcp://host:port` with `ipc_mode: tcp`. */
export interface EventSockets {
  readonly pubPath: string
  readonly pullPath: string
  /** The name of the bus in Salt's logs. */
  readonly name: 'MasterEvent' | 'SaltEvent'
}

/** Return the event sockets of a master (wire protocol §11). */
export function masterEventSockets(config: MasterSocketOptions): EventSockets {
  if (config.ipc_mode === 'tcp')
    return loopback('MasterEvent', config.tcp_master_pub_port, config.tcp_master_pull_port)
  return files('MasterEvent', config.sock_dir, 'master_event')
}

/** Return the event sockets of a minion, whose names contain a part of the id's hash. */
export function minionEventSockets(config: MinionSocketOptions, id: string): EventSockets {
  if (config.ipc_mode === 'tcp') return loopback('SaltEvent', config.tcp_pub_port, config.tcp_pull_port)
  const hash = createHash(config.hash_type).update(id, 'utf8').digest('hex').slice(0, 10)
  return files('SaltEvent', config.sock_dir, `minion_event_${hash}`)
}

const files = (name: EventSockets['name'], directory: string, file: string): EventSockets => ({
  name,
  pubPath: join(directory, `${file}_pub.ipc`),
  pullPath: join(directory, `${file}_pull.ipc`),
})

const loopback = (name: EventSockets['name'], pub: number, pull: number): EventSockets => ({
  name,
  pubPath: `tcp://127.0.0.1:${pub}`,
  pullPath: `tcp://127.0.0.1:${pull}`,
})
