import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiContext } from '../context.ts'
import { throwIfClientLeft } from '../waits.ts'
import type { FrameSink } from './frame-stream.ts'
import type { Frame } from './frames.ts'
import type { Admitted, Readers } from './readers.ts'
import { tokenOfReader } from './tokens.ts'

const HEADERS = {
  'content-type': 'text/event-stream;charset=utf-8',
  'cache-control': 'no-cache, no-store',
  'x-accel-buffering': 'no',
} as const

/**
 * How often readers get an empty comment: `fetch` of Node ends a stream after five minutes of silence, and proxies after a minute or less.
 */
const PULSE_MS = 15_000

/** How long a dropped reader has to receive the reason. */
const FAREWELL_MS = 1000

/** Add `GET /events`: the events of the master as server-sent events. */
export function events(app: FastifyInstance, context: ApiContext, readers: Readers): void {
  const tokenOf = (request: FastifyRequest) => tokenOfReader(request, context)
  const config = {
    endless: true,
    fixedFormat: true,
    tokenOf,
    query: ['token', 'salt_token', 'tag'],
  } as const
  app.get('/events', { config, exposeHeadRoute: false }, async (request, reply) => {
    const admitted = await readers.admit(tokenOf(request), request)
    throwIfClientLeft(reply)
    serve(request, reply, admitted, readers)
  })
}

function serve(request: FastifyRequest, reply: FastifyReply, admitted: Admitted, readers: Readers): void {
  const { raw } = reply.hijack()
  // Without chunked encoding, the same buffer is written to every reader. The connection ends with the stream.
  raw.useChunkedEncodingByDefault = false
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...HEADERS }))
    if (value !== undefined) raw.setHeader(name, value)
  const farewell = (reason: string) => {
    raw.end(`: ${reason}\n\n`)
    setTimeout(() => raw.destroy(), FAREWELL_MS).unref()
  }
  const sink: FrameSink<Frame> = {
    write: ({ sse }, done) => raw.write(sse, (error) => !error && done()),
    drop(reason) {
      readers.noteDropped(request, admitted, reason)
      farewell(`This reader was dropped. ${reason}`)
    },
  }
  const reader = readers.hub.read(sink, admitted.filter)
  const release = readers.register(admitted, (why) => {
    reader.close()
    farewell(why)
  })
  const pulse = setInterval(() => {
    if (!raw.writableEnded && raw.writableLength === 0) raw.write(':\n\n')
  }, PULSE_MS).unref()
  raw.on('error', () => raw.destroy())
  raw.on('close', () => {
    clearInterval(pulse)
    reader.close()
    release()
  })
  raw.write('retry: 400\n\n')
}
