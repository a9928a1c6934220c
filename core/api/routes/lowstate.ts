import type { FastifyInstance } from 'fastify'
import { whileWaited } from '../calling.ts'
import { type Chunk, lowstateSchema, readLowstate } from '../chunk.ts'
import { runLowstate } from '../clients.ts'
import { tokenIfAny, tokenOf } from '../identity.ts'
import { type ApiRoom, roomFor } from '../room.ts'

/**
 * Commands, and an item for each: `POST /` with a token, `POST /run` with what each chunk has of its own or, as in rest_tornado,
 * with the token.
 */
export function lowstate(app: FastifyInstance, room: ApiRoom): void {
  const schema = { body: lowstateSchema(room.settings.max_chunks) }

  app.post<{ Body: Chunk[] }>(
    '/',
    {
      schema,
      preValidation: async (request) => {
        tokenOf(request, room)
        request.body = readLowstate(request.body)
      },
    },
    async (request, reply) => {
      const token = tokenOf(request, room)
      return {
        return: await whileWaited(room, reply, (signal) =>
          runLowstate(roomFor(room, request), request.body, token, signal),
        ),
      }
    },
  )

  app.post<{ Body: Chunk[] }>(
    '/run',
    {
      schema,
      preValidation: async (request) => {
        const chunks = readLowstate(request.body)
        const token = chunks.every(provesItself) ? undefined : tokenIfAny(request, room)
        request.body = chunks.map((chunk) => (token && !provesItself(chunk) ? { ...chunk, token } : chunk))
      },
    },
    async (request, reply) => ({
      return: await whileWaited(room, reply, (signal) =>
        runLowstate(roomFor(room, request), request.body, undefined, signal),
      ),
    }),
  )
}

const provesItself = ({ token, eauth }: Chunk): boolean => token !== undefined || eauth !== undefined
