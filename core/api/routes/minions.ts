import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../base/record.ts'
import { type Chunk, lowstateSchema, readLowstate } from '../chunk.ts'
import { runForRequest } from '../clients.ts'
import type { ApiContext } from '../context.ts'
import { requiredToken } from '../identity.ts'
import { queryValue } from '../query.ts'

/** Add `GET /minions` and `/minions/<id>` (grains) and `POST /minions` (jobs without waiting). */
export function minions(app: FastifyInstance, context: ApiContext): void {
  const config = { query: ['mid'] }
  app.get<{ Params: { id?: string } }>('/minions/:id?', { config }, async (request, reply) => {
    const token = requiredToken(request, context)
    const { id = queryValue(request.query, 'mid') } = request.params
    const chunk = { client: 'local', tgt: id || '*', fun: 'grains.items' }
    return {
      return: await runForRequest(context, [request, reply], [chunk], token),
    }
  })

  app.post<{ Body: Chunk[] }>(
    '/minions',
    {
      schema: { body: lowstateSchema(context.settings.max_chunks) },
      preValidation: async (request) => {
        requiredToken(request, context)
        request.body = readLowstate(request.body, 'local_async')
      },
    },
    async (request, reply) => {
      const token = requiredToken(request, context)
      const jobs = await runForRequest(context, [request, reply], request.body, token)
      reply.code(202)
      const links = jobs.flatMap((job) => (isRecord(job) && job.jid ? { href: `/jobs/${job.jid}` } : []))
      return { return: jobs, _links: { jobs: links } }
    },
  )
}
