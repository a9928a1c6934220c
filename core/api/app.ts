import cors, { type FastifyCorsOptions } from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { checkAddress } from './addresses.ts'
import { registerBodyParsers } from './bodies.ts'
import { schemaError } from './chunk.ts'
import type { ApiContext } from './context.ts'
import { negotiateFormat, openFormats } from './formats.ts'
import { compress } from './gzip.ts'
import { answerUnreadableUrl, errorHandler, notFoundHandler } from './http-errors.ts'
import { lazyValidator } from './lazy-validator.ts'
import { addLiveRoutes, addRequestGuards, serverOptions } from './live/index.ts'
import { refuseUnknownQuery } from './query.ts'
import { jobs } from './routes/jobs.ts'
import { keys } from './routes/keys.ts'
import { lowstate } from './routes/lowstate.ts'
import { minions } from './routes/minions.ts'
import { session } from './routes/session.ts'
import { welcome } from './routes/welcome.ts'
import { tracing } from './tracing.ts'

/** Create the server with all its routes. It does not listen yet. */
export async function createApp(context: ApiContext): Promise<FastifyInstance> {
  const { config, settings, log } = context
  const app = Fastify({
    logger: false,
    ...serverOptions(context),
    frameworkErrors: answerUnreadableUrl,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    schemaErrorFormatter: schemaError,
  })
  app.setValidatorCompiler(lazyValidator)
  app.setErrorHandler(errorHandler(context))
  app.addHook('onRequest', negotiateFormat(await openFormats(config, log)))
  app.addHook('onRequest', async ({ ip }) => checkAddress(ip, settings))
  await addRequestGuards(app, context)
  app.addHook('onSend', compress)
  registerBodyParsers(app, settings.max_request_body_size)
  if (settings.cors_origin.length > 0) await app.register(cors, corsOf(settings.cors_origin))
  const prefix = settings.root_prefix.replace(/\/+$/, '')
  if (prefix !== '') app.setNotFoundHandler(notFoundHandler(app))
  await app.register(
    async (routes) => {
      routes.setNotFoundHandler(notFoundHandler(routes))
      refuseUnknownQuery(routes)
      for (const part of [tracing, welcome, lowstate, minions, jobs, keys, session, addLiveRoutes])
        await part(routes, context)
    },
    { prefix },
  )
  return app
}

/** Return the options of @fastify/cors. With `*`, pages of any origin may send requests, but without cookies. */
function corsOf(origins: readonly string[]): FastifyCorsOptions {
  const isAnyOrigin = origins.includes('*')
  const options = {
    origin: isAnyOrigin ? '*' : [...origins],
    credentials: !isAnyOrigin,
    methods: ['GET', 'POST'],
    allowedHeaders: ['Content-Type', 'X-Auth-Token', 'X-Requested-With'],
    exposedHeaders: ['X-Auth-Token'],
    optionsSuccessStatus: 200,
    maxAge: 1_400,
  }
  return { delegator: async (request: FastifyRequest) => ({ ...options, preflight: isPreflight(request) }) }
}

/** Whether a browser asks for permission. Without these headers, OPTIONS asks for the methods of a path. */
const isPreflight = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined && headers['access-control-request-method'] !== undefined
