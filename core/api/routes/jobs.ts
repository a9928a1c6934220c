import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../wire/bytes.ts'
import { whileWaited } from '../calling.ts'
import { runLowstate } from '../clients.ts'
import { tokenOf } from '../identity.ts'
import { refusal } from '../problems.ts'
import { oneOf } from '../query.ts'
import { type ApiRoom, roomFor } from '../room.ts'

/** What `jobs.list_jobs` takes. */
const SEARCH = [
  'before',
  'after',
  'search_function',
  'search_target',
  'search_user',
  'start_time',
  'end_time',
]

/** `GET /jobs`: those in the job cache that fit the query. `GET /jobs/<jid>`: one, and what was returned. */
export function jobs(app: FastifyInstance, room: ApiRoom): void {
  const config = { query: ['jid', 'timeout', 'limit', ...SEARCH] }
  app.get<{ Params: { jid?: string } }>('/jobs/:jid?', { config }, async (request, reply) => {
    const token = tokenOf(request, room)
    const { jid = oneOf(request.query, 'jid') } = request.params
    const call = jid ? { fun: 'jobs.list_job', jid } : { fun: 'jobs.list_jobs', ...searchIn(request.query) }
    const timeout = numberIn(request.query, 'timeout')
    const chunk = { client: 'runner', ...call, ...(timeout !== undefined && { timeout }) }
    const [found] = await whileWaited(room, reply, (signal) =>
      runLowstate(roomFor(room, request), [chunk], token, signal),
    )
    if (!isRecord(found)) throw refusal(404, String(found))
    return jid ? { info: [found], return: [returnsOf(found)] } : { return: [found] }
  })
}

function searchIn(query: unknown): Record<string, unknown> {
  const given = SEARCH.map((name) => [name, oneOf(query, name)])
  return Object.fromEntries(
    [...given, ['limit', numberIn(query, 'limit')]].filter(([, value]) => value !== undefined),
  )
}

function numberIn(query: unknown, name: string): number | undefined {
  const text = oneOf(query, name)
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw refusal(400, `'${name}' must be a whole number, not '${text.slice(0, 100)}'.`)
}

/** Id → return. */
function returnsOf({ Result }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const results = Object.entries(isRecord(Result) ? Result : {})
  return Object.fromEntries(results.map(([id, end]) => [id, isRecord(end) ? (end.return ?? null) : null]))
}
