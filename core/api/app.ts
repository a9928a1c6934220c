import cors from '@fastify/cors'
import Fastify, { type FastifyInstance } from 'fastify'
import { checkAddress } from './addresses.ts'
import { readBodies } from './bodies.ts'
import { schemaProblem } from './chunk.ts'
import { answerIn, openFormats } from './formats.ts'
import { compress } from './gzip.ts'
import { live, protect, serverOptions } from './live/index.ts'
import { notFound, problemHandler, refuseUnreadable } from './problems.ts'
import { checkQueries } from './query.ts'
import type { ApiRoom } from './room.ts'
import { jobs } from './routes/jobs.ts'
import { keys } from './routes/keys.ts'
import { lowstate } from './routes/lowstate.ts'
import { minions } from './routes/minions.ts'
import { session } from './routes/session.ts'
import { welcome } from './routes/welcome.ts'
import { tracing } from './tracing.ts'

/** The routes put together; it does not listen yet. */
export async function createApp(room: ApiRoom): Promise<FastifyInstance> {
  const { config, settings, log } = room
  const app = Fastify({
    logger: false,
    ...serverOptions(room),
    frameworkErrors: refuseUnreadable,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    schemaErrorFormatter: schemaProblem,
  })
  app.setErrorHandler(problemHandler(room))
  app.addHook('onRequest', answerIn(await openFormats(config, log)))
  app.addHook('onRequest', async ({ ip }) => checkAddress(ip, settings))
  await protect(app, room)
  app.addHook('onSend', compress)
  readBodies(app, settings.max_request_body_size)
  if (settings.cors_origin.length > 0) await app.register(cors, corsOf(settings.cors_origin))
  await app.register(
    async (routes) => {
      routes.setNotFoundHandler(notFound(routes))
      checkQueries(routes)
      for (const part of [tracing, welcome, lowstate, minions, jobs, keys, session, live])
        await part(routes, room)
    },
    { prefix: settings.root_prefix.replace(/\/+$/, '') },
  )
  return app
}

/** Who says `*` lets every page ask, but none with the session of who looks at it. */
function corsOf(origins: readonly string[]) {
  const isAnybody = origins.includes('*')
  return {
    origin: isAnybody ? '*' : [...origins],
    credentials: !isAnybody,
    methods: ['GET', 'POST'],
    allowedHeaders: ['Content-Type', 'X-Auth-Token', 'X-Requested-With'],
    exposedHeaders: ['X-Auth-Token'],
    optionsSuccessStatus: 200,
    maxAge: 1_400,
  }
}
