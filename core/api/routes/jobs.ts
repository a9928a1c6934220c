import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../base/record.ts'
import { runForRequest } from '../clients.ts'
import type { ApiContext } from '../context.ts'
import { httpError } from '../http-errors.ts'
import { requiredToken } from '../identity.ts'
import { queryValue } from '../query.ts'

/** Parameters of `jobs.list_jobs`. */
const SEARCH = [
  'before',
  'after',
  'search_function',
  'search_target',
  'search_user',
  'start_time',
  'end_time',
]

/** Add `GET /jobs`, the jobs of the job cache that match the query, and `GET /jobs/<jid>`, one job with its returns. */
export function jobs(app: FastifyInstance, context: ApiContext): void {
  const config = { query: ['jid', 'timeout', 'limit', ...SEARCH] }
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
  const given = SEARCH.map((name) => [name, queryValue(query, name)])
  return Object.fromEntries(
    [...given, ['limit', numberIn(query, 'limit')]].filter(([, value]) => value !== undefined),
  )
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
