import { join } from 'node:path'
import type { MasterConfig } from '../../config/index.ts'

/** Return the path of a unix socket, or an address on the loopback interface with `ipc_mode: tcp`. */
const ipc = (config: MasterConfig, name: string, port: number): string =>
  config.ipc_mode === 'tcp' ? `tcp://127.0.0.1:${port}` : join(config.sock_dir, name)

/** The queue from the workers to the publisher, and the backend of the request port (wire protocol §11). */
export const publishQueue = (config: MasterConfig): string =>
  ipc(config, 'publish_pull.ipc', config.tcp_master_publish_pull)
export const workersEndpoint = (config: MasterConfig): string =>
  ipc(config, 'workers.ipc', config.tcp_master_workers)
