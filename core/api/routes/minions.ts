import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../wire/bytes.ts'
import { whileWaited } from '../calling.ts'
import { type Chunk, lowstateSchema, readLowstate } from '../chunk.ts'
import { runLowstate } from '../clients.ts'
import { tokenOf } from '../identity.ts'
import { oneOf } from '../query.ts'
import { type ApiRoom, roomFor } from '../room.ts'

/** `GET /minions` and `/minions/<id>`: grains. `POST /minions`: jobs that nobody waits for. */
export function minions(app: FastifyInstance, room: ApiRoom): void {
  const config = { query: ['mid'] }
  app.get<{ Params: { id?: string } }>('/minions/:id?', { config }, async (request, reply) => {
    const token = tokenOf(request, room)
    const { id = oneOf(request.query, 'mid') } = request.params
    const chunk = { client: 'local', tgt: id || '*', fun: 'grains.items' }
    return {
      return: await whileWaited(room, reply, (signal) =>
        runLowstate(roomFor(room, request), [chunk], token, signal),
      ),
    }
  })

  app.post<{ Body: Chunk[] }>(
    '/minions',
    {
      schema: { body: lowstateSchema(room.settings.max_chunks) },
      preValidation: async (request) => {
        tokenOf(request, room)
        request.body = readLowstate(request.body, 'local_async')
      },
    },
    async (request, reply) => {
      const token = tokenOf(request, room)
      const jobs = await whileWaited(room, reply, (signal) =>
        runLowstate(roomFor(room, request), request.body, token, signal),
      )
      reply.code(202)
      const links = jobs.flatMap((job) => (isRecord(job) && job.jid ? { href: `/jobs/${job.jid}` } : []))
      return { return: jobs, _links: { jobs: links } }
    },
  )
}
