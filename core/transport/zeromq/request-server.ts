import type { Router } from 'zeromq'
import type { RequestServer, ServerSettings } from '../contract.ts'
import { WorkInProgress } from '../work-in-progress.ts'
import { admitConnections } from './admission.ts'
import { bindTcp } from './bind.ts'
import { type Routed, readRouted } from './routed.ts'
import { SendQueue } from './send-queue.ts'
import { serverOptions } from './settings.ts'
import { openRouter } from './sockets.ts'

/** How long answers are still sent after the server is closed. */
const LINGER_MS = 1_000

/** Pending requests, at most. Further ones are read when others have been answered. */
const MAX_PENDING = 5_000

/**
 * Serve requests from a ROUTER in this process, which suffices unless several worker processes are needed (see
 * proxy.ts).
 */
export async function serveRequests(settings: ServerSettings): Promise<RequestServer> {
  const router = openRouter({
    ...serverOptions(settings),
    linger: LINGER_MS,
    ...(settings.highWaterMark !== undefined && { sendHighWaterMark: settings.highWaterMark }),
  })
  const port = await bindTcp(router, settings)
  const admission = admitConnections({ ...settings, port })
  const work = new WorkInProgress(MAX_PENDING)
  return {
    port,
    serve: (answer) => void serve(router, answer, work),
    async close() {
      await work.finish(LINGER_MS)
      admission.close()
      router.close()
    },
  }
}

async function serve(
  router: Router,
  answer: (request: Uint8Array) => Promise<Uint8Array>,
  work: WorkInProgress,
): Promise<void> {
  const replies = new SendQueue(router)
  const respond = async ({ path, payload }: Routed) => {
    // An empty reply is an error for every client; without one the client would wait until its timeout.
    const reply = await answer(payload).catch(() => Buffer.alloc(0))
    await replies.send([...path, reply]).catch(() => undefined)
  }
  for await (const frames of router) {
    const request = readRouted(frames)
    if (request) await work.start(() => respond(request))
  }
}
