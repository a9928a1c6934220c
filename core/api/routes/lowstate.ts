import type { FastifyInstance } from 'fastify'
import { type Chunk, lowstateSchema, readLowstate } from '../chunk.ts'
import { runForRequest } from '../clients.ts'
import type { ApiContext } from '../context.ts'
import { optionalToken, requiredToken } from '../identity.ts'

/**
 * Add `POST /`, which runs chunks with the token of the request, and `POST /run`, which runs chunks with their own
 * credentials or, as in rest_tornado, with that token.
 */
export function lowstate(app: FastifyInstance, context: ApiContext): void {
  const schema = { body: lowstateSchema(context.settings.max_chunks) }

  app.post<{ Body: Chunk[] }>(
    '/',
    {
      schema,
      preValidation: async (request) => {
        requiredToken(request, context)
        request.body = readLowstate(request.body)
      },
    },
    async (request, reply) => {
      const token = requiredToken(request, context)
      return {
        return: await runForRequest(context, [request, reply], request.body, token),
      }
    },
  )

  app.post<{ Body: Chunk[] }>(
    '/run',
    {
      schema,
      preValidation: async (request) => {
        const chunks = readLowstate(request.body)
        const token = chunks.every(hasCredentials) ? undefined : optionalToken(request, context)
        request.body = chunks.map((chunk) => (token && !hasCredentials(chunk) ? { ...chunk, token } : chunk))
      },
    },
    async (request, reply) => ({
      return: await runForRequest(context, [request, reply], request.body, undefined),
    }),
  )
}

const hasCredentials = ({ token, eauth }: Chunk): boolean => token !== undefined || eauth !== undefined
