import { existsSync } from 'node:fs'
import type { Log } from '../../author/context.ts'
import type { ReturnerAdmin, ReturnerStatus } from '../../author/master.ts'
import type { Returner, ReturnRecord } from '../../author/returner.ts'
import { systemClock } from '../../base/clock.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { createJidSource } from '../../base/jid.ts'
import { eventOutboxDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { openMasterReturner } from '../../jobs/open-master-returner.ts'
import { rateOf } from '../../outbox/index.ts'
import { Outbox, type TargetState } from '../../outbox/outbox.ts'
import { targetFrom } from '../../outbox/outbox-target.ts'

/** Id of the minion whose return is written and read to test a store. */
const PROBE = 'salt-ts-probe'

/** Offer the state of this host's returners, and what to do with records that they could not write. */
export function createReturnerAdmin(
  config: MasterConfig,
  log: Log,
  jobs: () => Promise<JobCache>,
): ReturnerAdmin {
  async function using<T>(name: string, use: (returner: Returner) => Promise<T>): Promise<T> {
    const returner = await openMasterReturner(name, config, log)
    try {
      return await use(returner)
    } catch (error) {
      throw SaltError.is(error) ? error : unusable(name, error)
    } finally {
      await returner.close?.()
    }
  }

  /** Call `look` with both outboxes of a master: that of jobs and returns, and that of events. */
  async function eachOutbox<T>(look: (outbox: Outbox) => Promise<T>): Promise<T[]> {
    const found = [await look((await jobs()).outbox)]
    const directory = eventOutboxDirectory(config)
    if (!existsSync(directory)) return found
    const events = Outbox.open(directory)
    try {
      return [...found, await look(events)]
    } finally {
      await events.close()
    }
  }

  async function onDead(act: 'retry' | 'purge', name: string, numbers?: readonly number[]): Promise<number> {
    const counts = await eachOutbox(async (outbox) => {
      let count = 0
      for (const target of outbox.known())
        if (targetFrom(target).name === name) count += await outbox[act](target, numbers)
      return count
    })
    return counts.reduce((sum, count) => sum + count, 0)
  }

  return {
    status: async () => (await eachOutbox(async (outbox) => statuses(outbox))).flat(),
    test: (name) => using(name, (returner) => probe(name, returner)),
    migrate: (name) =>
      using(name, async (returner) => {
        if (returner.migrate) return returner.migrate()
        throw new SaltError('INVALID_ARGUMENTS', `The returner ${name} needs no migration.`, { name })
      }),
    retry: (name, numbers) => onDead('retry', name, numbers),
    purge: (name, numbers) => onDead('purge', name, numbers),
  }
}

/** Return the error for a store that cannot be used, with the library's message, of the first address if it tried several. */
function unusable(name: string, error: unknown): SaltError {
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const why = messageOf(first) || String((first as { code?: unknown }).code)
  const message = `The store of the returner ${name} cannot be used: ${why.replace(/\.$/, '')}. Is it running, and do the options of ${name} name it?`
  return new SaltError('STORE_FAILED', message, { name }, { cause: error })
}

/** Limits the dead letters shown for each returner. */
const MAX_SHOWN = 20

function statuses(outbox: Outbox): ReturnerStatus[] {
  return outbox.known().map((target) => {
    const { queued, dead, oldest } = outbox.counts(target)
    const known: Partial<TargetState> = outbox.state(target) ?? {}
    const { state = 'up', since, written = 0, failures = 0, error, lastError } = known
    const aside: ReturnerStatus['aside'][number][] = []
    for (const { number, item, reason } of outbox.dead(target)) {
      if (aside.length === MAX_SHOWN) break
      aside.push({ number, kind: item.kind, reason })
    }
    return {
      returner: targetFrom(target).name,
      state,
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      queued,
      ...(oldest !== undefined && { oldest: new Date(oldest).toISOString() }),
      written,
      rate: rateOf(known, Date.now()),
      failures,
      ...(lastError && { last_error: `${new Date(lastError.at).toISOString()}: ${lastError.error}` }),
      ...(error !== undefined && { error }),
      dead,
      aside,
    }
  })
}

/** Write a return, read it and remove it, as far as the returner can. Returns sentences about each step. */
async function probe(name: string, returner: Returner): Promise<string[]> {
  const jid = createJidSource(systemClock)()
  const ret: ReturnRecord = {
    jid,
    id: PROBE,
    fun: 'test.ping',
    fun_args: [],
    return: true,
    retcode: 0,
    success: true,
  }
  const seen: string[] = []
  const timed = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    const result = await act()
    seen.push(`${what} (${(performance.now() - started).toFixed(1)} ms).`)
    return result
  }
  await timed(`${name} saved a return of ${PROBE} under the job id ${jid}`, () => returner.save(ret))
  const { getJid, remove } = returner
  if (getJid) {
    const found = await timed('It was read back', () => getJid.call(returner, jid))
    if (found.filter((one) => one.id === PROBE && one.return === true).length !== 1)
      throw new SaltError(
        'STORE_FAILED',
        `The returner ${name} did not return the record it saved: ${found.length} returns for the job id ${jid}.`,
      )
    seen.push('The record read back is identical.')
  } else seen.push(`Records cannot be read from ${name}: look there for the job id ${jid}.`)
  if (remove) await timed('It was removed', () => remove.call(returner, jid))
  else seen.push(`${name} cannot delete records: the test return stays in the store.`)
  return seen
}
