import type {
  ClientSettings,
  IncomingRequest,
  RequestClient,
  RequestPort,
  ServerSettings,
} from '../contract.ts'
import { requestCancelled, timedOut } from '../errors.ts'
import { MemoryNetwork } from './network.ts'

/** Receives requests. The promise never settles if there is no answer. */
interface Endpoint {
  ask(frame: Uint8Array): Promise<Uint8Array>
}

const network = new MemoryNetwork<Endpoint>()

export async function openRequestPort(settings: ServerSettings): Promise<RequestPort> {
  const early: IncomingRequest[] = []
  let take = (request: IncomingRequest): void | Promise<void> => void early.push(request)
  const binding = network.listen(settings.host, settings.port, {
    ask: (frame) =>
      new Promise((resolve) => {
        if (frame.length > (settings.maxFrameSize ?? Number.POSITIVE_INFINITY)) return
        const reply = (answer: Uint8Array) => resolve(Buffer.from(answer))
        const request = { payload: Buffer.from(frame), client: '', reply }
        queueMicrotask(() => void take(request))
      }),
  })
  return {
    port: binding.port,
    receive(given) {
      take = given
      for (const request of early.splice(0)) void take(request)
    },
    close: async () => binding.close(),
  }
}

/** Connect a client. Requests wait until there is a server; they are not sent again if that is closed. */
export function connectRequests({ host, port }: ClientSettings): RequestClient {
  const pending = new Set<(error: unknown) => void>()
  let closed = false
  return {
    async request(frame, timeoutMs) {
      if (closed) throw requestCancelled(host, port)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => end(() => reject(timedOut(host, port, timeoutMs))), timeoutMs)
        const stopWatching = network.watch(() => connect())
        const cancel = (error: unknown) => end(() => reject(error))
        pending.add(cancel)
        let sent = false
        const connect = () => {
          const server = sent ? undefined : network.find(host, port)
          if (!server) return
          sent = true
          server.ask(frame).then((reply) => end(() => resolve(reply)))
        }
        const end = (settle: () => void) => {
          clearTimeout(timer)
          stopWatching()
          pending.delete(cancel)
          settle()
        }
        connect()
      })
    },
    async close() {
      closed = true
      for (const cancel of [...pending]) cancel(requestCancelled(host, port))
    },
  }
}
