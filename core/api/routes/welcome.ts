import type { FastifyInstance } from 'fastify'
import { CLIENT_NAMES } from '../clients.ts'

/** Add `GET /`: a welcome, and the names of the clients. */
export function welcome(app: FastifyInstance): void {
  app.get('/', async () => ({ return: 'Welcome', clients: CLIENT_NAMES }))
}
