import { SaltError } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { expectedMinions } from '../../targets/index.ts'
import { makeJobLoad } from '../../wire/publication.ts'
import { type PublishLoad, passedOn, publishReplies, readPublish } from '../../wire/publish-request.ts'
import { jidFor } from '../jids.ts'
import type { WorkerRoom } from '../room.ts'
import { subjects } from '../subjects.ts'

/** Target types whose minions are known by id, so that a publication can be addressed to each (wire protocol §9). */
const BY_ID = new Set(['glob', 'pcre', 'list'])

/** `publish`: authenticate, resolve, authorise, store, announce, publish (wire protocol §8.1). */
export function publishHandler(room: WorkerRoom): ClearHandler {
  return async (load) => {
    const request = readPublish(load)
    if (!request) throw new Error('the publish request lacks tgt, fun or user, or they are of the wrong kind')
    const caller = await room.access.authenticate(request.user, request.key)
    if (!caller) return refuse(room, request, 'AuthenticationError', 'Authentication error occurred.')
    const expected = await resolve(room, request)
    if (!room.access.authorized(caller, { fun: request.fun, minions: expected.minions })) {
      return refuse(room, request, 'AuthorizationError', 'Authorization error occurred.')
    }
    if (!expected.minions.length) return publishReplies.noMatch(request.tgt, request.tgtType)
    return publish(room, request, expected)
  }
}

interface Expected {
  readonly minions: readonly string[]
  readonly missing: readonly string[]
}

async function publish(room: WorkerRoom, request: PublishLoad, expected: Expected): Promise<unknown> {
  const { minions, missing } = expected
  const { fun, arg, tgt, tgtType, user, ret } = request
  const jid = await jidFor(room, request.jid)
  if (!jid) return refuse(room, request, 'SaltInvocationError', `The job id ${request.jid} is taken or not a job id.`)
  const job = makeJobLoad({ fun, arg, tgt, jid, ret, tgt_type: tgtType, user, ...passedOn(request.kwargs) })
  const unsaved = await store(room, jid, { ...job, cmd: 'publish' }, minions)
  if (unsaved) return refuse(room, request, 'SaltMasterError', unsaved)
  room.fire(jid, { minions, missing })
  room.fire(tags.jobNew(jid), { jid, tgt_type: tgtType, tgt, user, fun, arg, minions, missing })
  room.log.info(`User ${user} Published command ${String(fun)} with jid ${jid}`)
  await room.publish(job, BY_ID.has(tgtType) ? [...minions, ...missing] : undefined)
  return publishReplies.published(jid, minions, missing)
}

/** Why the job could not be stored: then it is not published either. */
async function store(
  room: WorkerRoom,
  jid: string,
  load: object,
  minions: readonly string[],
): Promise<string | undefined> {
  if (!room.config.job_cache) return undefined
  try {
    await room.jobs.saveLoad(jid, load, minions)
    return undefined
  } catch (error) {
    if (!SaltError.is(error)) throw error
    return `The job was not published, because it could not be stored: ${error.message}`
  }
}

async function resolve(room: WorkerRoom, request: PublishLoad): Promise<Expected> {
  const delimiter = request.kwargs['delimiter']
  const target = {
    tgt: request.tgt,
    tgt_type: request.tgtType,
    ...(typeof delimiter === 'string' && { delimiter }),
  }
  return expectedMinions(target, await subjects(room), room.matcher)
}

/** Tell the client and the event bus; never with the credentials that came along. */
function refuse(room: WorkerRoom, request: PublishLoad, name: string, message: string): unknown {
  const { tgt, tgtType, fun, arg, user, jid } = request
  room.log.warn(`Refused to publish ${String(fun)} for user ${user}: ${message}`)
  room.fire(tags.jobError(jid || undefined), {
    ...(jid && { jid }),
    tgt,
    tgt_type: tgtType,
    fun,
    arg,
    user,
    error: { name, message },
  })
  return publishReplies.failed(name, message)
}
