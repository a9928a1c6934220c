import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Smaller answers gain nothing. Bytes. */
const LEAST = 1_024

const compressed = promisify(gzip)

/** A hook: large texts are compressed for who takes that; streams are not, they are to arrive as they come. */
export async function compress(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < LEAST) return payload
  reply.header('Vary', [reply.getHeader('Vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (!takesGzip(headers['accept-encoding']) || reply.hasHeader('Content-Encoding')) return payload
  reply.header('Content-Encoding', 'gzip').removeHeader('Content-Length')
  return compressed(payload)
}

function takesGzip(encodings: unknown): boolean {
  const found = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/i.exec(String(encodings ?? ''))
  return found !== null && Number(found[1] ?? 1) > 0
}
