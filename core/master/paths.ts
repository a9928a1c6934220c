import { join } from 'node:path'
import type { MasterConfig } from '../config/index.ts'

interface Address {
  readonly address: string
  /** The socket file, if it is one. */
  readonly path?: string
}

function ipc(config: MasterConfig, name: string, port: number): Address {
  if (config.ipc_mode === 'tcp') return { address: `tcp://127.0.0.1:${port}` }
  const path = join(config.sock_dir, name)
  return { address: `ipc://${path}`, path }
}

/** Between the workers and the publisher, and between the request port and the workers (wire protocol §11). */
export const publishQueue = (config: MasterConfig): Address =>
  ipc(config, 'publish_pull.ipc', config.tcp_master_publish_pull)
export const workersBackend = (config: MasterConfig): Address =>
  ipc(config, 'workers.ipc', config.tcp_master_workers)

/** Its existence asks for a new AES key (wire protocol §9, "Key rotation"). */
export const rotationFlag = (config: MasterConfig): string => join(config.cachedir, '.dfn')
