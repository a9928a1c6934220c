/** What may be in the query of a path: a word that means nothing there would be left out without anybody noticing. */
import type { FastifyInstance } from 'fastify'
import { closest } from '../base/closest.ts'
import { refusal } from './problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Names that mean something in the query of this path; any, if whoever asks chooses them. */
    readonly query?: readonly string[] | 'any'
  }
}

/** Browsers are kept from answering by themselves with it. */
const IGNORED = ['_']

/** Refuse unknown names in the query of any route that is added from now on. */
export function checkQueries(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ query, routeOptions, is404 }) => {
    const { query: known = [] } = routeOptions.config
    if (is404 || known === 'any') return
    for (const name of Object.keys(query as object))
      if (!known.includes(name) && !IGNORED.includes(name)) throw unknown(name, routeOptions.url ?? '', known)
  })
}

function unknown(name: string, path: string, known: readonly string[]): Error {
  const meant = closest(name, known)
  const hint =
    meant !== undefined
      ? ` Did you mean '${meant}'?`
      : known.length > 0
        ? ` It takes ${known.join(', ')}.`
        : ' It takes none.'
  return refusal(
    400,
    `'${name.slice(0, 100)}' means nothing in the query of ${path.replace(/\/:.*/, '')}.${hint}`,
  )
}

/** The value of one name that is given at most once. @throws SaltError with status 400 */
export function oneOf(query: unknown, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name]
  if (Array.isArray(value)) throw refusal(400, `'${name}' is there more than once in the query.`)
  return typeof value === 'string' && value !== '' ? value : undefined
}
