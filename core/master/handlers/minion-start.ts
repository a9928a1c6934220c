import { connections, UNLISTED_MS } from '../../cache/connected.ts'
import { MAX_RECONNECT_MS, type MinionStart, type StartAnswer } from '../../wire/minion-start.ts'
import { startPlace } from '../publisher/duplicate-minions.ts'
import type { WorkerContext } from '../worker/context.ts'

/** Minions that reconnect to this master spread over a millisecond each, so that about a thousand come back in a second. */
const RECONNECT_MS_PER_MINION = 1
const MIN_RECONNECT_MS = 1_000
/** How long a count of the minions is used. */
const RECOUNT_MS = 10_000

/** Return the function that answers a minion that is about to accept jobs. Minions of Python Salt do not ask. */
export function createStartAnswers(
  context: WorkerContext,
): (id: string, start: MinionStart) => Promise<StartAnswer> {
  const { config, keys } = context
  let counted: Promise<number> | undefined
  let countedAt = 0
  const countMinions = () => {
    const now = performance.now()
    if (!counted || now - countedAt > RECOUNT_MS) {
      countedAt = now
      counted = keys.minions().then(({ length }) => length)
      counted.catch(() => {
        counted = undefined
      })
    }
    return counted
  }
  return async (id, start) => {
    const refused = await checkMinionStart(context, id, start)
    if (refused !== undefined) return { refused }
    const wanted = (await countMinions()) * RECONNECT_MS_PER_MINION
    return {
      missedJobs: config.sign_pub_messages ? 'signed' : 'unsigned',
      lacksGrains: config.minion_data_cache && context.minions.grains(id) === undefined,
      cluster: config.cluster_id,
      ...(context.syndics.mayBe(id) && { takesSyndics: true }),
      reconnectMs: Math.min(Math.max(wanted, MIN_RECONNECT_MS), MAX_RECONNECT_MS),
    }
  }
}

/**
 * Check a minion that is about to accept jobs, and store its start. With `refuse_second_minion`, return why it must not accept
 * jobs if another minion with its id runs; undefined otherwise.
 */
async function checkMinionStart(
  context: WorkerContext,
  id: string,
  start: MinionStart,
): Promise<string | undefined> {
  const now = Date.now()
  if (context.config.refuse_second_minion) {
    const there = (await connections(context.config))?.runs?.[id] ?? []
    const first = context.starts
      .of(id)
      .find(({ token, at }) => token !== start.token && (there.includes(token) || now - at < UNLISTED_MS))
    if (first) {
      const sentence = `There are two minions with the id ${id} and its key, ${startPlace(first)} and ${startPlace(start)}`
      context.log.error(`${sentence}: the one that started second gets no jobs (refuse_second_minion).`)
      return `${sentence}. This one gets no jobs, because refuse_second_minion is set on the master.`
    }
  }
  await context.starts.save(id, start, now)
  return undefined
}
