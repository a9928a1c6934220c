import type { Caller } from '../../auth/index.ts'
import type { MatchSubject } from '../../author/kinds.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import { otherKeys } from '../../keys/index.ts'
import {
  type Expected,
  expectedMinions,
  explainNoMatch,
  sizeProblem,
  type Target,
} from '../../targets/index.ts'
import type { PublishLoad } from '../../wire/publish-request.ts'
import type { WorkerContext } from '../worker/context.ts'

export interface ResolvedTarget extends Expected {
  /** The reason why the target cannot be parsed, as a sentence; it then matches no minion. */
  readonly invalid?: string
}

/** Return the message for a target that is too large to be evaluated; undefined if it is not. */
export const targetTooLarge = (request: PublishLoad): string | undefined => sizeProblem(targetOf(request))

/** Return the minions that a job is expected to reach (wire protocol §8.1, §15). */
export async function resolveTarget(context: WorkerContext, request: PublishLoad): Promise<ResolvedTarget> {
  try {
    return expectedMinions(targetOf(request), await acceptedMinions(context), context.matcher)
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'TARGET_INVALID') throw error
    const invalid = messageOf(error)
    context.log.warn(`A target is invalid and matches no minion: ${invalid.split('\n', 1)[0]}`)
    return { minions: [], unknown: [], missing: [], invalid }
  }
}

/**
 * Return why the target matches no minion; undefined for a caller without all rights, since the reason mentions keys and
 * grains of minions that the caller may not see.
 */
export async function whyNoMinions(
  context: WorkerContext,
  request: PublishLoad,
  caller: Caller,
): Promise<string | undefined> {
  if (!caller.unrestricted) return undefined
  const known = await acceptedMinions(context)
  return explainNoMatch(targetOf(request), {
    subjects: () => known,
    otherKeys: await otherKeys(context.keys),
    matcher: context.matcher,
  })
}

function targetOf({ tgt, tgtType, kwargs: { delimiter } }: PublishLoad): Target {
  return { tgt, tgt_type: tgtType, ...(typeof delimiter === 'string' && { delimiter }) }
}

/** Return every accepted minion with its cached data. */
async function acceptedMinions({
  keys,
  minions,
}: Pick<WorkerContext, 'keys' | 'minions'>): Promise<Iterable<MatchSubject>> {
  return cachedMinions(await keys.minions(), minions)
}
