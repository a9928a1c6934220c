import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { tokenBrought } from '../identity.ts'
import { collectorToken, metrics } from '../metrics.ts'
import type { ApiRoom } from '../room.ts'
import { events } from './events.ts'
import { health } from './health.ts'
import { hook } from './hook.ts'
import { limits } from './limits.ts'
import { Readers } from './readers.ts'
import { securityHeaders } from './security-headers.ts'
import { SignInGuard } from './sign-in-guard.ts'
import { stats } from './stats.ts'
import { websockets } from './websockets.ts'

export { serverOptions } from './server-options.ts'

/** What every request has to pass, before any other hook. */
export async function protect(app: FastifyInstance, room: ApiRoom): Promise<void> {
  setMaxListeners(0, room.stopping) // each request that waits listens
  securityHeaders(app)
  await limits(app, room)
  new SignInGuard(room).guard(app)
}

/** The routes of what is live: events, hooks, figures, health. */
export async function live(app: FastifyInstance, room: ApiRoom): Promise<void> {
  const readers = new Readers(room)
  const sockets = new Set<Socket>()
  // The server itself forgets those that went over to another protocol.
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', async () => {
    readers.close()
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, room.settings.stop_timeout * 1000)
    app.server.once('close', () => clearTimeout(timer))
  })
  app.addHook('onResponse', async (request, reply) => {
    const token = tokenBrought(request, room.settings)
    if (request.routeOptions.url?.endsWith('/logout') && reply.statusCode === 200 && token !== undefined)
      readers.tokens.ended(token)
  })
  stats(app, room, readers)
  const { metrics: wanted, stats_disable_auth: open } = room.settings
  if (wanted)
    await metrics(app, {
      admit: async (token) => open || readers.tokens.require(token),
      readers: () => readers.hub.figures,
      route: { writesItself: true, tokenOf: collectorToken, ...(open && { open }) },
    })
  health(app, room)
  hook(app, room, readers)
  events(app, room, readers)
  if (room.settings.websockets) websockets(app, room, readers)
}
