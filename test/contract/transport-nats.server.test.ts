import { afterAll, beforeAll, describe } from 'vitest'
import type { Transport } from '../../core/transport/contract.ts'
import { natsTransport } from '../../core/transport/nats/index.ts'
import { needs, program } from '../harness/needs.ts'
import { freePort } from '../harness/ports.ts'
import type { TestServer } from '../harness/server.ts'
import { startNats } from '../harness/store-servers.ts'
import { transportContract } from './transport.ts'

describe('the transport nats', needs(program('nats-server')), () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startNats()
  })
  afterAll(() => server.drop())

  /** A fleet for each port. */
  const at = ({ port }: { readonly port: number }) =>
    natsTransport({ servers: [`127.0.0.1:${server.port}`], prefix: `port${port}` })
  const withPort = async <T extends { readonly port: number }>(settings: T): Promise<T> => ({
    ...settings,
    port: settings.port || (await freePort()),
  })
  const transport: Transport = {
    name: 'nats',
    reach: 'network',
    async openRequestPort(settings) {
      const chosen = await withPort(settings)
      return at(chosen).openRequestPort(chosen)
    },
    async servePublish(settings) {
      const chosen = await withPort(settings)
      return at(chosen).servePublish(chosen)
    },
    connectRequests: (settings) => at(settings).connectRequests(settings),
    subscribe: (settings) => at(settings).subscribe(settings),
  }
  transportContract(transport, { shared: true })
})
