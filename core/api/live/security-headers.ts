import type { FastifyInstance } from 'fastify'

export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  // Answers hold tokens, and what minions returned.
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

/** What browsers are not to do with answers: keep them, run what is in them, show them inside other pages. */
export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS)
  })
}
