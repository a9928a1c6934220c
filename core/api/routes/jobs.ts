import type { FastifyInstance } from 'fastify'
import { isRecord } from '../../wire/bytes.ts'
import { whileWaited } from '../calling.ts'
import { runLowstate } from '../clients.ts'
import { tokenOf } from '../identity.ts'
import { refusal } from '../problems.ts'
import { type ApiRoom, roomFor } from '../room.ts'

/** `GET /jobs`: those in the job cache. `GET /jobs/<jid>`: one, and what was returned. */
export function jobs(app: FastifyInstance, room: ApiRoom): void {
  app.get<{ Params: { jid?: string } }>('/jobs/:jid?', async (request, reply) => {
    const token = tokenOf(request, room)
    const { jid } = request.params
    const call = jid ? { fun: 'jobs.list_job', jid } : { fun: 'jobs.list_jobs' }
    const chunk = { client: 'runner', ...call }
    const [found] = await whileWaited(room, reply, (signal) =>
      runLowstate(roomFor(room, request), [chunk], token, signal),
    )
    if (!isRecord(found)) throw refusal(404, String(found))
    return jid ? { info: [found], return: [returnsOf(found)] } : { return: [found] }
  })
}

/** Id → return. */
function returnsOf({ Result }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const results = Object.entries(isRecord(Result) ? Result : {})
  return Object.fromEntries(results.map(([id, end]) => [id, isRecord(end) ? (end.return ?? null) : null]))
}
