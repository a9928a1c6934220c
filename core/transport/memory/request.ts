import type { ClientSettings, RequestClient, RequestServer, ServerSettings } from '../contract.ts'
import { requestCancelled, timedOut } from '../errors.ts'
import { WorkInProgress } from '../work-in-progress.ts'
import { MemoryNetwork } from './network.ts'

/** Receives requests. The promise never settles if there is no answer. */
interface Endpoint {
  ask(frame: Uint8Array): Promise<Uint8Array>
}

type Answer = (request: Uint8Array) => Promise<Uint8Array>

const network = new MemoryNetwork<Endpoint>()
const CLOSE_MS = 1_000
const MAX_PENDING = 5_000

export async function serveRequests(settings: ServerSettings): Promise<RequestServer> {
  const work = new WorkInProgress(MAX_PENDING)
  const early: (() => void)[] = []
  let answer: Answer | undefined
  const respond = async (frame: Uint8Array, settle: (reply: Uint8Array) => void) => {
    const reply = await answer?.(frame).catch(() => Buffer.alloc(0))
    if (reply) settle(Buffer.from(reply))
  }
  const binding = network.listen(settings.host, settings.port, {
    ask: (frame) =>
      new Promise((resolve) => {
        if (frame.length > (settings.maxFrameSize ?? Number.POSITIVE_INFINITY)) return
        const copy = Buffer.from(frame)
        const start = () => void work.start(() => respond(copy, resolve))
        if (answer) queueMicrotask(start)
        else early.push(start)
      }),
  })
  return {
    port: binding.port,
    serve(given) {
      answer = given
      for (const start of early.splice(0)) start()
    },
    async close() {
      binding.close()
      await work.finish(CLOSE_MS)
    },
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
