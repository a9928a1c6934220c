import type { FastifyInstance } from 'fastify'
import { CLIENTS } from '../clients.ts'

/** `GET /`: what this is. */
export function welcome(app: FastifyInstance): void {
  app.get('/', async () => ({ return: 'Welcome', clients: CLIENTS }))
}
