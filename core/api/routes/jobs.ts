import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../base/record.ts'
import { yamlify } from '../../loader/calls/words.ts'
import { runForRequest } from '../clients.ts'
import type { ApiContext } from '../context.ts'
import { httpError } from '../http-errors.ts'
import { requiredToken } from '../identity.ts'
import { queryValue } from '../query.ts'

/** Parameters of `jobs.list_jobs` that are texts. */
const TEXTS = ['before', 'after', 'search_function', 'search_target', 'search_user', 'start_time', 'end_time']
const SEARCH = [...TEXTS, 'limit', 'search_metadata']

/** Add `GET /jobs`, the jobs of the job cache that match the query, and `GET /jobs/<jid>`, one job with its returns. */
export function jobs(app: FastifyInstance, context: ApiContext): void {
  const config = { query: ['jid', 'timeout', ...SEARCH] }
  app.get<{ Params: { jid?: string } }>('/jobs/:jid?', { config }, async (request, reply) => {
    const token = requiredToken(request, context)
    const { jid = queryValue(request.query, 'jid') } = request.params
    const call = jid ? { fun: 'jobs.list_job', jid } : { fun: 'jobs.list_jobs', ...searchIn(request.query) }
    const timeout = numberIn(request.query, 'timeout')
    const chunk = { client: 'runner', ...call, ...(timeout !== undefined && { timeout }) }
    const [found] = await runForRequest(context, [request, reply], [chunk], token)
    if (!isRecord(found)) throw httpError(404, String(found))
    return jid ? { info: [found], return: [returnsOf(found)] } : { return: [found] }
  })
}

function searchIn(query: unknown): Record<string, unknown> {
  const given = [
    ...TEXTS.map((name) => [name, queryValue(query, name)]),
    ['limit', numberIn(query, 'limit')],
    ['search_metadata', mapIn(query, 'search_metadata')],
  ]
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** Return a map that is written as on a command line: `{city: Paris}`, or JSON. */
function mapIn(query: unknown, name: string): unknown {
  const text = queryValue(query, name)
  const value = text === undefined ? undefined : yamlify(text)
  if (value === undefined || isRecord(value)) return value
  throw httpError(400, `'${name}' must be a map, as {city: Paris}, not '${text?.slice(0, 100)}'.`)
}

function numberIn(query: unknown, name: string): number | undefined {
  const text = queryValue(query, name)
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw httpError(400, `'${name}' must be a whole number, not '${text.slice(0, 100)}'.`)
}

/** Return a map of minion id → return. */
function returnsOf({ Result }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const results = Object.entries(isRecord(Result) ? Result : {})
  return Object.fromEntries(results.map(([id, end]) => [id, isRecord(end) ? (end.return ?? null) : null]))
}
