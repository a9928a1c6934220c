import type { FastifyInstance } from 'fastify'
import { SaltError } from '../../base/errors.ts'
import { parseMinionId } from '../../base/minion-id.ts'
import { isRecord } from '../../base/record.ts'
import { type Chunk, readLowstate } from '../chunk.ts'
import { runForRequest } from '../clients.ts'
import type { ApiContext } from '../context.ts'
import { httpError } from '../http-errors.ts'
import { optionalToken, requiredToken } from '../identity.ts'
import { queryValue } from '../query.ts'
import { tarOf } from '../tar.ts'

/**
 * Add `GET /keys` (ids by key state), `GET /keys/<id>` (fingerprints) and `POST /keys` (generate and accept a key
 * pair).
 */
export function keys(app: FastifyInstance, context: ApiContext): void {
  const config = { query: ['mid'] }
  app.get<{ Params: { id?: string } }>('/keys/:id?', { config }, async (request, reply) => {
    const token = requiredToken(request, context)
    const { id = queryValue(request.query, 'mid') } = request.params
    const call = id ? { fun: 'key.finger', match: id } : { fun: 'key.list_all' }
    const chunk = { client: 'wheel', ...call }
    const [end] = await runForRequest(context, [request, reply], [chunk], token)
    return { return: returnOf(end) }
  })

  app.post('/keys', async (request, reply) => {
    const token = optionalToken(request, context)
    const { id, chunk } = keyRequest(request.body)
    const [end] = await runForRequest(context, [request, reply], [chunk], token)
    const archive = archiveOf(returnOf(end), id)
    reply.type('application/x-tar').header('Cache-Control', 'no-store')
    reply.header('Content-Disposition', `attachment; filename="saltkeys-${id.replace(/[^\w.-]/g, '_')}.tar"`)
    return archive
  })
}

function returnOf(end: unknown): unknown {
  const data = isRecord(end) && isRecord(end.data) ? end.data : {}
  if (data.success === false) throw httpError(400, String(data.return))
  return data.return ?? {}
}

/** Return the archive with a generated key pair. */
function archiveOf(pair: unknown, id: string): Buffer {
  const { pub, priv } = isRecord(pair) ? pair : {}
  if (typeof pub === 'string' && typeof priv === 'string')
    return tarOf([
      { name: 'minion.pub', content: pub, mode: 0o644 },
      { name: 'minion.pem', content: priv, mode: 0o600 },
    ])
  throw httpError(
    400,
    typeof pair === 'string' ? pair : `No keys were generated for ${id}: it has a key already.`,
  )
}

/**
 * Read the request for a key pair. Its members are the arguments of `key.gen_accept`; `mid` is Salt's name for `id_`.
 * The id is validated here: masters of Python Salt use it in a path.
 */
function keyRequest(body: unknown): { id: string; chunk: Chunk } {
  const [given, ...more] = readLowstate(body, 'wheel')
  if (!given || more.length > 0) throw new SaltError('INVALID_ARGUMENTS', 'Request one key pair at a time.')
  const { mid, id_ = mid, ...others } = given
  if (typeof id_ !== 'string' || id_ === '')
    throw new SaltError('INVALID_ARGUMENTS', "'mid' must be the id of the minion that the keys are for.")
  return { id: parseMinionId(id_), chunk: { ...others, fun: 'key.gen_accept', id_ } }
}
