import type { FastifyInstance } from 'fastify'
import { SaltError } from '../../base/errors.ts'
import { parseMinionId } from '../../base/minion-id.ts'
import { isRecord } from '../../wire/bytes.ts'
import { whileWaited } from '../calling.ts'
import { type Chunk, readLowstate } from '../chunk.ts'
import { runLowstate } from '../clients.ts'
import { tokenIfAny, tokenOf } from '../identity.ts'
import { refusal } from '../problems.ts'
import { oneOf } from '../query.ts'
import { type ApiRoom, roomFor } from '../room.ts'
import { tarOf } from '../tar.ts'

/** `GET /keys` and `/keys/<id>`: names by state, fingerprints. `POST /keys`: a new key pair, accepted. */
export function keys(app: FastifyInstance, room: ApiRoom): void {
  const config = { query: ['mid'] }
  app.get<{ Params: { id?: string } }>('/keys/:id?', { config }, async (request, reply) => {
    const token = tokenOf(request, room)
    const { id = oneOf(request.query, 'mid') } = request.params
    const call = id ? { fun: 'key.finger', match: id } : { fun: 'key.list_all' }
    const chunk = { client: 'wheel', ...call }
    const [end] = await whileWaited(room, reply, (signal) =>
      runLowstate(roomFor(room, request), [chunk], token, signal),
    )
    return { return: givenBy(end) }
  })

  app.post('/keys', async (request, reply) => {
    const token = tokenIfAny(request, room)
    const { id, chunk } = pairWanted(request.body)
    const [end] = await whileWaited(room, reply, (signal) =>
      runLowstate(roomFor(room, request), [chunk], token, signal),
    )
    const pair = givenBy(end)
    const { pub, priv } = isRecord(pair) ? pair : {}
    if (typeof pub !== 'string' || typeof priv !== 'string')
      throw refusal(400, typeof pair === 'string' ? pair : `No keys were made for ${id}: it has one already.`)
    const tar = tarOf([
      { name: 'minion.pub', content: pub, mode: 0o644 },
      { name: 'minion.pem', content: priv, mode: 0o600 },
    ])
    reply.type('application/x-tar').header('Cache-Control', 'no-store')
    reply.header('Content-Disposition', `attachment; filename="saltkeys-${id.replace(/[^\w.-]/g, '_')}.tar"`)
    return tar
  })
}

function givenBy(end: unknown): unknown {
  const data = isRecord(end) && isRecord(end.data) ? end.data : {}
  if (data.success === false) throw refusal(400, String(data.return))
  return data.return ?? {}
}

/** Members are those of the wheel function, its `id_` may be named `mid`: masters of Python Salt make a path of it. */
function pairWanted(body: unknown): { id: string; chunk: Chunk } {
  const [given, ...more] = readLowstate(body, 'wheel')
  if (!given || more.length > 0) throw new SaltError('INVALID_ARGUMENTS', 'Ask for one key pair at a time.')
  const { mid, id_ = mid, ...others } = given
  if (typeof id_ !== 'string' || id_ === '')
    throw new SaltError('INVALID_ARGUMENTS', 'Say whom the keys are for: mid must be the id of a minion.')
  return { id: parseMinionId(id_), chunk: { ...others, fun: 'key.gen_accept', id_ } }
}
