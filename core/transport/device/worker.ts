import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Dealer } from 'zeromq'
import { deferred } from '../../base/deferred.ts'
import type { RequestServer } from '../contract.ts'
import { WorkInProgress } from '../work-in-progress.ts'
import { localEndpoint } from '../zeromq/bind-local.ts'
import { connect, reconnect, watchConnection } from '../zeromq/connect.ts'
import { SendQueue } from '../zeromq/send-queue.ts'
import { openDealer } from '../zeromq/sockets.ts'
import { answerHeader, LEAVING, PROBE, READY, readHeader } from './messages.ts'

const RECONNECT_MS = 50
const RECONNECT_MAX_MS = 500
/** Time for the device to say that no more will come, and then for the answers under way. Milliseconds. */
const GOODBYE_MS = 500
const FINISH_MS = 4_000
const LINGER_MS = 1_000

type Answer = (request: Uint8Array) => Promise<Uint8Array>

/** Ends when the answers under way are given, in `finishMs` at most. */
export interface WorkerServer extends RequestServer {
  close(finishMs?: number): Promise<void>
}

/**
 * The worker's end of a device. Probes are answered by the same loop that takes requests, so a worker whose event
 * loop hangs is one that does not answer them. `close` lets the device know, and answers what has come till then.
 */
export async function openWorker(settings: { backend: string; name: string }): Promise<WorkerServer> {
  const dealer = openDealer({
    routingId: settings.name,
    sendHighWaterMark: 0,
    receiveHighWaterMark: 0,
    linger: LINGER_MS,
    reconnectInterval: RECONNECT_MS,
    reconnectMaxInterval: RECONNECT_MAX_MS,
  })
  const instance = randomBytes(8)
  const endpoint = localEndpoint(settings.backend)
  const work = new WorkInProgress(Number.POSITIVE_INFINITY)
  const goodbye = deferred<void>()
  const messages = new SendQueue(dealer)
  const send = (header: string, payload?: Uint8Array) =>
    messages.send(payload ? [header, payload] : [header]).catch(() => undefined)
  const announce = () => send(READY, instance)
  let serving = false
  void watchConnection(dealer, {
    up: () => void (serving && announce()),
    abandoned: () => reconnect(dealer, endpoint),
  })
  connect(dealer, endpoint)
  return {
    port: 0,
    serve(answer) {
      serving = true
      void announce()
      void serve(dealer, { answer, work, send, goodbye: goodbye.resolve })
    },
    async close(finishMs = FINISH_MS) {
      if (serving) {
        serving = false
        await send(LEAVING)
        await Promise.race([goodbye.promise, setTimeout(GOODBYE_MS, undefined, { ref: false })])
      }
      await work.finish(finishMs)
      dealer.close()
    },
  }
}

interface Serving {
  readonly answer: Answer
  readonly work: WorkInProgress
  send(header: string, payload?: Uint8Array): Promise<void>
  goodbye(): void
}

async function serve(dealer: Dealer, { answer, work, send, goodbye }: Serving): Promise<void> {
  for await (const [frame, payload] of dealer) {
    const header = readHeader(frame)
    if (header.kind === 'probe') void send(PROBE)
    if (header.kind === 'leaving') goodbye()
    if (header.kind !== 'request' || !payload) continue
    const respond = async () => {
      const reply = await answer(payload).catch(() => Buffer.alloc(0))
      await send(answerHeader(header.id), reply)
    }
    void work.start(respond)
  }
}
