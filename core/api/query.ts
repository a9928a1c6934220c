/** Checks of query parameters. Unknown ones are refused, since ignoring them would go unnoticed. */
import type { FastifyInstance } from 'fastify'
import { closest } from '../base/closest.ts'
import { httpError } from './http-errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters of this route; `any` if the sender chooses them. */
    readonly query?: readonly string[] | 'any'
  }
}

/** jQuery adds `_=<time>` to bypass browser caches. */
const IGNORED = ['_']

/** Refuse unknown query parameters for every route that is added from now on. */
export function refuseUnknownQuery(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ query, routeOptions, is404 }) => {
    const { query: known = [] } = routeOptions.config
    if (is404 || known === 'any') return
    for (const name of Object.keys(query as object))
      if (!known.includes(name) && !IGNORED.includes(name)) throw unknown(name, routeOptions.url ?? '', known)
  })
}

function unknown(name: string, path: string, known: readonly string[]): Error {
  const similar = closest(name, known)
  const hint =
    similar !== undefined
      ? ` Did you mean '${similar}'?`
      : known.length > 0
        ? ` It takes ${known.join(', ')}.`
        : ' It takes no query parameters.'
  return httpError(
    400,
    `Unknown query parameter '${name.slice(0, 100)}' for ${path.replace(/\/:.*/, '')}.${hint}`,
  )
}

/**
 * Return the value of a query parameter that may be given once.
 * @throws SaltError with status 400
 */
export function queryValue(query: unknown, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name]
  if (Array.isArray(value)) throw httpError(400, `The query parameter '${name}' is given more than once.`)
  return typeof value === 'string' && value !== '' ? value : undefined
}
