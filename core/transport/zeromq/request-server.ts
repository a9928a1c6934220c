import type { Router } from 'zeromq'
import type { RequestServer, ServerSettings } from '../contract.ts'
import { WorkInProgress } from '../work-in-progress.ts'
import { admitConnections } from './admission.ts'
import { bindTcp } from './bind.ts'
import { type Routed, readRouted } from './routed.ts'
import { SendQueue } from './send-queue.ts'
import { serverOptions } from './settings.ts'
import { openRouter } from './sockets.ts'

/** Answers that are ready when the server closes get this long to leave the machine. Milliseconds. */
const LINGER_MS = 1_000

/** More requests than this stay with their senders until others are answered. */
const MAX_UNDER_WAY = 5_000

/** A ROUTER that answers by itself: enough for everything that does not need several processes (see device.ts). */
export async function serveRequests(settings: ServerSettings): Promise<RequestServer> {
  const router = openRouter({
    ...serverOptions(settings),
    linger: LINGER_MS,
    ...(settings.highWaterMark !== undefined && { sendHighWaterMark: settings.highWaterMark }),
  })
  const port = await bindTcp(router, settings)
  const admission = admitConnections({ ...settings, port })
  const work = new WorkInProgress(MAX_UNDER_WAY)
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
    // An empty reply is an error to every client; without one it would wait for its time-out.
    const reply = await answer(payload).catch(() => Buffer.alloc(0))
    await replies.send([...path, reply]).catch(() => undefined)
  }
  for await (const frames of router) {
    const request = readRouted(frames)
    if (request) await work.start(() => respond(request))
  }
}
