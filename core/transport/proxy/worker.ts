import { randomBytes } from 'node:crypto'
import type { Dealer } from 'zeromq'
import { deferred } from '../../base/deferred.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import type { RequestServer } from '../contract.ts'
import { WorkInProgress } from '../work-in-progress.ts'
import { localEndpoint } from '../zeromq/bind-local.ts'
import { connect, reconnect, watchConnection } from '../zeromq/connect.ts'
import { SendQueue } from '../zeromq/send-queue.ts'
import { openDealer } from '../zeromq/sockets.ts'
import { TurnBatch } from './batch.ts'
import { ANSWERS, LEAVING, PROBE, READY, REQUESTS, readNumbered } from './messages.ts'

const RECONNECT_MS = 50
const RECONNECT_MAX_MS = 500
/** How long to wait for the proxy to confirm that it sends no more requests. */
const GOODBYE_MS = 500
/** How long to wait for pending answers after that. */
const FINISH_MS = 4_000
const LINGER_MS = 1_000

type Answer = (request: Uint8Array) => Promise<Uint8Array>

/** A server that closes when pending answers are sent, or after `finishMs` milliseconds. */
export interface WorkerServer extends RequestServer {
  close(finishMs?: number): Promise<void>
}

/**
 * Open the worker's end of a proxy. The loop that reads requests also answers probes, so a worker whose event loop is
 * blocked answers none. `close` notifies the proxy, and answers the requests that have arrived.
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
  const send = (...frames: (string | Uint8Array)[]) => messages.send(frames).catch(() => undefined)
  const announce = () => send(READY, instance)
  const answers = new TurnBatch((frames) => send(ANSWERS, ...frames))
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
      void serve(dealer, { answer, work, send, answers, goodbye: goodbye.resolve })
    },
    async close(finishMs = FINISH_MS) {
      if (serving) {
        serving = false
        await send(LEAVING)
        await endsWithin(goodbye.promise, GOODBYE_MS)
      }
      await work.finish(finishMs)
      await answers.flush()
      dealer.close()
    },
  }
}

interface Serving {
  readonly answer: Answer
  readonly work: WorkInProgress
  readonly answers: TurnBatch
  send(...frames: (string | Uint8Array)[]): Promise<void>
  goodbye(): void
}

async function serve(dealer: Dealer, { answer, work, answers, send, goodbye }: Serving): Promise<void> {
  for await (const [frame, first, second] of dealer) {
    const header = String(frame)
    if (header === PROBE) void send(PROBE)
    if (header === LEAVING) goodbye()
    if (header !== REQUESTS) continue
    for (const { id, payload: request } of readNumbered(first, second)) {
      void work.start(async () => {
        const reply = await answer(request).catch(() => Buffer.alloc(0))
        answers.add({ id, payload: reply })
      })
    }
  }
}
