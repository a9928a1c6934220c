import type { FastifyInstance } from 'fastify'

export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  // Answers hold tokens and returns of minions.
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

/** Tell browsers not to cache answers, run what is in them, or show them inside other pages. */
export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS)
  })
}
