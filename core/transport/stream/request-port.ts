import type { IncomingRequest, RequestPort, ServerSettings } from '../contract.ts'
import type { Link, StreamProtocol } from './contract.ts'
import { openLinks } from './links.ts'

/** Answers that wait for a client to read them; further ones are dropped, and the client times out. */
const MAX_UNSENT = 64

/** Receive requests on the connections of a port. */
export async function openRequestPort(
  protocol: StreamProtocol,
  settings: ServerSettings,
): Promise<RequestPort> {
  let take: ((request: IncomingRequest) => void | Promise<void>) | undefined
  const early: IncomingRequest[] = []
  /** Connections without a request so far, the oldest first. They are closed when there are too many connections. */
  const silent = new Set<Link>()
  let connections = 0

  async function hand(request: IncomingRequest, link: Link): Promise<void> {
    if (!take) return void early.push(request)
    const taken = take(request)
    if (!taken) return
    link.pause()
    await taken
    link.resume()
  }

  const links = await openLinks(
    protocol,
    settings,
    (link) => {
      const client = `${++connections}`
      silent.add(link)
      return {
        onMessage({ head, body }) {
          silent.delete(link)
          const reply = (answer: Uint8Array) => {
            if (link.unsent < MAX_UNSENT) link.send({ head, body: answer })
          }
          void hand({ payload: Buffer.from(body.buffer, body.byteOffset, body.length), client, reply }, link)
        },
        onClose: () => void silent.delete(link),
      }
    },
    () => {
      for (const link of silent) link.destroy()
    },
  )
  return {
    port: links.port,
    receive(given) {
      take = given
      for (const request of early.splice(0)) void given(request)
    },
    close: () => links.close(),
  }
}
