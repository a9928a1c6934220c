import type { Caller } from '../auth/index.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { type Expected, expectedMinions, type Target, whyNobody, whyTooLarge } from '../targets/index.ts'
import type { PublishLoad } from '../wire/publish-request.ts'
import type { WorkerRoom } from './room.ts'
import { subjects } from './subjects.ts'

export interface Resolved extends Expected {
  /** Why nobody can make sense of the target, which then means nobody: a sentence. */
  readonly invalid?: string
}

/** The sentence for a target that is too large to be looked at. */
export const whyRefused = (request: PublishLoad): string | undefined => whyTooLarge(targetOf(request))

/** Whom a job is for (wire protocol §8.1, §15). */
export async function resolve(room: WorkerRoom, request: PublishLoad): Promise<Resolved> {
  try {
    return expectedMinions(targetOf(request), await subjects(room), room.matcher)
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'TARGET_INVALID') throw error
    const invalid = messageOf(error)
    room.log.warn(`A target matches nobody: ${invalid.split('\n', 1)[0]}`)
    return { minions: [], unknown: [], missing: [], invalid }
  }
}

/**
 * Why the target means nobody; undefined for who may not do everything: it tells of keys and grains that they have no
 * business with.
 */
export async function reasonForNobody(
  room: WorkerRoom,
  request: PublishLoad,
  caller: Caller,
): Promise<string | undefined> {
  if (!caller.unrestricted) return undefined
  const { accepted, pending, rejected, denied } = await room.keys.list()
  const otherKeys = new Map([
    ...denied.map((id) => [id, 'denied'] as const),
    ...rejected.map((id) => [id, 'rejected'] as const),
    ...pending.map((id) => [id, 'pending'] as const),
  ])
  for (const id of accepted) otherKeys.delete(id)
  const known = await subjects(room)
  return whyNobody(targetOf(request), { subjects: () => known, otherKeys, matcher: room.matcher })
}

function targetOf({ tgt, tgtType, kwargs: { delimiter } }: PublishLoad): Target {
  return { tgt, tgt_type: tgtType, ...(typeof delimiter === 'string' && { delimiter }) }
}
