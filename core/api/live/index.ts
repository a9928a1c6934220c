import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context.ts'
import { presentedToken } from '../identity.ts'
import { addMetricsRoute, collectorToken } from '../metrics.ts'
import { events } from './events.ts'
import { health } from './health.ts'
import { hook } from './hook.ts'
import { limits } from './limits.ts'
import { LoginGuard } from './login-guard.ts'
import { Readers } from './readers.ts'
import { securityHeaders } from './security-headers.ts'
import { stats } from './stats.ts'
import { websockets } from './websockets.ts'

export { serverOptions } from './server-options.ts'

/** Add the guards that every request passes before any other hook: limits and log-in. */
export async function addRequestGuards(app: FastifyInstance, context: ApiContext): Promise<void> {
  setMaxListeners(0, context.stopping) // each waiting request adds a listener
  securityHeaders(app)
  await limits(app, context)
  new LoginGuard(context).guard(app)
}

/** Add the routes that need no lowstate: events, hooks, statistics, health. */
export async function addLiveRoutes(app: FastifyInstance, context: ApiContext): Promise<void> {
  const readers = new Readers(context)
  const sockets = new Set<Socket>()
  // The server does not track upgraded connections, so they are closed here.
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', async () => {
    readers.close()
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, context.settings.stop_timeout * 1000)
    app.server.once('close', () => clearTimeout(timer))
  })
  app.addHook('onResponse', async (request, reply) => {
    const token = presentedToken(request, context.settings)
    if (request.routeOptions.url?.endsWith('/logout') && reply.statusCode === 200 && token !== undefined)
      readers.tokens.revoke(token)
  })
  stats(app, context, readers)
  const { metrics: wanted, stats_disable_auth: open } = context.settings
  if (wanted)
    await addMetricsRoute(app, {
      authorize: async (token) => open || readers.tokens.require(token),
      readers: () => readers.hub.stats,
      route: { fixedFormat: true, tokenOf: collectorToken, ...(open && { open }) },
    })
  health(app, context)
  hook(app, context, readers)
  events(app, context, readers)
  if (context.settings.websockets) websockets(app, context, readers)
}
