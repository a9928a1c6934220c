import type { IncomingRequest, RequestServer, ServerSettings, Transport } from './contract.ts'
import { WorkInProgress } from './work-in-progress.ts'

/** How long pending answers may take when the server is closed. */
const LINGER_MS = 1_000
/** Pending requests, at most. Further ones are read when others have been answered. */
const MAX_PENDING = 5_000

/** Answer requests in this process, which suffices unless several worker processes are needed (see `proxy.ts`). */
export async function serveRequests(transport: Transport, settings: ServerSettings): Promise<RequestServer> {
  const port = await transport.openRequestPort(settings)
  const work = new WorkInProgress(MAX_PENDING)
  return {
    port: port.port,
    serve(answer) {
      const respond = async ({ payload, reply }: IncomingRequest) => {
        // An empty reply is an error for every client; without one the client would wait until its timeout.
        reply(await answer(payload).catch(() => Buffer.alloc(0)))
      }
      port.receive((request) => work.start(() => respond(request)))
    },
    async close() {
      await work.finish(LINGER_MS)
      await port.close()
    },
  }
}
