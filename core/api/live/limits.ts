import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { digestOf } from '../../auth/index.ts'
import { sameClient } from '../../base/net/same-client.ts'
import type { ApiContext } from '../context.ts'
import { httpError } from '../http-errors.ts'
import { presentedToken } from '../identity.ts'
import type { ApiSettings } from '../settings.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for health checks: it is answered past all limits. */
    readonly health?: true
    /** The answer is a stream: it does not count as a waiting request. */
    readonly endless?: true
  }
}

const MINUTE_MS = 60_000

/** Add the limits that apply before authentication. */
export async function limits(app: FastifyInstance, { settings }: ApiContext): Promise<void> {
  refuseBodies(app)
  await limitRate(app, settings)
  limitWaits(app, settings)
}

/** Refuse compressed and multipart bodies unread: they could expand to any size or number of parts. */
function refuseBodies(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers }) => {
    const { 'content-encoding': encoding, 'content-type': type = '' } = headers
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw httpError(
        415,
        'Compressed requests are not supported. Send the request without Content-Encoding.',
      )
    if (/^\s*multipart\//i.test(type))
      throw httpError(415, 'Multipart requests are not supported. Send JSON, YAML or a form.')
  })
}

async function limitRate(app: FastifyInstance, settings: ApiSettings): Promise<void> {
  const { requests_per_minute: max } = settings
  if (max === 0) return
  await app.register(rateLimit, { global: false })
  const options = { max, timeWindow: MINUTE_MS }
  const byAddress = app.createRateLimit({ ...options, keyGenerator: ({ ip }) => sameClient(ip) })
  const byToken = app.createRateLimit({ ...options, keyGenerator: (request) => clientOf(request, settings) })
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.health) return
    const counts = [byAddress, ...(presentedToken(request, settings) === undefined ? [] : [byToken])]
    for (const count of counts) {
      const counted = await count(request)
      if (!counted.isAllowed && counted.isExceeded) throw tooOften(reply, counted.ttlInSeconds, max)
    }
  })
}

function tooOften(reply: FastifyReply, seconds: number, max: number): Error {
  reply.header('Retry-After', String(seconds))
  return httpError(
    429,
    `More than ${max} requests per minute (requests_per_minute). Try again in ${seconds} s.`,
    { limit: 'requests_per_minute' },
  )
}

/** Limit the number of requests in progress; most of them wait for returns. */
function limitWaits(app: FastifyInstance, settings: ApiSettings): void {
  const { max_waits, max_waits_per_token } = settings
  const waits = new Map<string, number>()
  let all = 0
  app.addHook('onRequest', async (request, reply) => {
    const { health, endless } = request.routeOptions.config
    if (health || endless) return
    const client = clientOf(request, settings)
    const own = waits.get(client) ?? 0
    if (max_waits > 0 && all >= max_waits) throw tooMany(reply, 503, `${max_waits} requests`, 'max_waits')
    if (max_waits_per_token > 0 && own >= max_waits_per_token)
      throw tooMany(reply, 429, `${max_waits_per_token} requests of yours`, 'max_waits_per_token')
    all++
    waits.set(client, own + 1)
    reply.raw.once('close', () => {
      all--
      const left = (waits.get(client) ?? 1) - 1
      if (left === 0) waits.delete(client)
      else waits.set(client, left)
    })
  })
}

function tooMany(reply: FastifyReply, status: number, what: string, option: string): Error {
  reply.header('Retry-After', '5')
  const sentence = `${what} are being answered, the maximum (${option}). Try again later.`
  return httpError(status, sentence, { limit: option })
}

/** Return what identifies a client: its token, else its address. */
function clientOf(request: FastifyRequest, settings: ApiSettings): string {
  const token = presentedToken(request, settings)
  return token === undefined ? sameClient(request.ip) : digestOf(token)
}
