import type { RequestClient, Transport } from './contract.ts'

/** Return a network transport that is loaded when it is used. */
export function lazily(name: string, load: () => Promise<Transport>): Transport {
  let loaded: Promise<Transport> | undefined
  const loadOnce = () => {
    loaded ??= load()
    return loaded
  }
  return {
    name,
    reach: 'network',
    openRequestPort: async (settings) => (await loadOnce()).openRequestPort(settings),
    servePublish: async (settings) => (await loadOnce()).servePublish(settings),
    subscribe: async (settings) => (await loadOnce()).subscribe(settings),
    connectRequests(settings): RequestClient {
      let connected: RequestClient | undefined
      const client = loadOnce().then((transport) => {
        connected = transport.connectRequests(settings)
        return connected
      })
      return {
        request: async (frame, timeoutMs, to) => (await client).request(frame, timeoutMs, to),
        choose: (wanted) => connected?.choose?.(wanted),
        close: async () => (await client).close(),
      }
    },
  }
}
