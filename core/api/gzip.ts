import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Shorter answers are not worth compressing. */
const MIN_CHARACTERS = 1_024

const compressed = promisify(gzip)

/**
 * Hook: compress long texts for clients that accept gzip. Streams are not compressed, so that events arrive at once.
 */
export async function compress(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < MIN_CHARACTERS) return payload
  reply.header('Vary', [reply.getHeader('Vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (!acceptsGzip(headers['accept-encoding']) || reply.hasHeader('Content-Encoding')) return payload
  reply.header('Content-Encoding', 'gzip').removeHeader('Content-Length')
  return compressed(payload)
}

function acceptsGzip(encodings: unknown): boolean {
  const found = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/i.exec(String(encodings ?? ''))
  return found !== null && Number(found[1] ?? 1) > 0
}
