import { admitConnections } from '../admission.ts'
import type { RequestPort, ServerSettings } from '../contract.ts'
import { bindTcp } from './bind.ts'
import { readRouted } from './routed.ts'
import { SendQueue } from './send-queue.ts'
import { serverOptions } from './settings.ts'
import { openRouter } from './sockets.ts'
import { HandshakeGate } from './zap.ts'

/** How long answers are still sent after the port is closed. */
const LINGER_MS = 1_000
/**
 * High-water marks: requests of one client that wait to be read, and answers that wait for the client to read them. Salt's
 * clients send one request at a time on each connection.
 */
const MAX_QUEUED = 64

/** Receive requests with a ROUTER. */
export async function openRequestPort(settings: ServerSettings): Promise<RequestPort> {
  const router = openRouter({
    ...serverOptions(settings),
    linger: LINGER_MS,
    sendHighWaterMark: settings.highWaterMark ?? MAX_QUEUED,
    receiveHighWaterMark: MAX_QUEUED,
  })
  const port = await bindTcp(router, settings)
  const admission = admitConnections({ ...settings, port }, () => new HandshakeGate())
  const replies = new SendQueue(router)
  return {
    port,
    async receive(take) {
      for await (const frames of router) {
        const routed = readRouted(frames)
        if (!routed) continue
        const { path, payload } = routed
        const taken = take({
          payload,
          client: path[0]?.toString('latin1') ?? '',
          reply: (answer) => void replies.send([...path, answer]).catch(() => undefined),
        })
        if (taken) await taken
      }
    },
    async close() {
      admission.close()
      router.close()
    },
  }
}
