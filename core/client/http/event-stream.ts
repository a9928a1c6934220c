import { HttpError, problemOf } from './http-error.ts'
import { chunksOf, type ServerSent, serverSent } from './server-sent-events.ts'

export interface HttpEvent {
  readonly tag: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What the server says beside events: that it has missed some, or why it ends the stream. */
interface Notice {
  readonly notice: string
}

export type EventMessage = HttpEvent | Notice
export type EventMessages = AsyncGenerator<EventMessage>

/**
 * Read events from a body, from now on. The iteration does not end: it rejects with the reason of the signal, or with STREAM_ENDED and
 * the last notice when the stream ends.
 */
export function eventsIn(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): EventMessages {
  return messagesIn(serverSent(chunksOf(body)), signal)
}

async function* messagesIn(sent: AsyncIterable<ServerSent>, signal: AbortSignal | undefined): EventMessages {
  let why = ''
  try {
    for await (const message of sent) {
      why = 'comment' in message ? message.comment : ''
      yield 'comment' in message ? { notice: why } : (JSON.parse(message.data) as HttpEvent)
    }
  } catch (error) {
    why ||= `The connection was lost: ${problemOf(error)}.`
  }
  signal?.throwIfAborted()
  throw streamEnded(why || 'The server gave no reason.')
}

export const streamEnded = (why: string): HttpError =>
  new HttpError('STREAM_ENDED', `The events of salt-api have ended. ${why}`)
