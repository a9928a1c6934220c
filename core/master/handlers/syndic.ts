import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { maskSecretWords } from '../../base/secret-words.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { GENERATION_3 } from '../../wire/envelope.ts'
import { readSyndicReport, readSyndicReturn, type SyndicReturn } from '../../wire/syndic.ts'
import type { WorkerContext } from '../worker/context.ts'
import { addMinionsBelow, isMinionBelow } from '../worker/syndics.ts'
import { takeReturn } from '../worker/take-return.ts'

/** Log the same refusal at most this often. */
const LOG_INTERVAL_MS = 3_600_000

/** Return why the sender may not speak for other minions, as a sentence; undefined if it may. */
function refusalOf({ config, syndics }: WorkerContext, id: string | undefined): string | undefined {
  if (id !== undefined && syndics.mayBe(id)) return undefined
  return config.order_masters
    ? `${id ?? 'A sender without a key here'} may not speak for other minions (syndics of this master).`
    : `${id ?? 'A sender without a key here'} speaks for other minions, but this master has no syndics. Set order_masters: true on it if it is a master of masters.`
}

/**
 * `_syndic_minions`: a syndic reports the minions that it speaks for in a job, before it passes on their returns. Minions with a
 * key on this master are left out, since they return directly.
 */
export function syndicReportHandler(context: WorkerContext): EncryptedHandler {
  const warn = onceInAWhile((sentence) => context.log.warn(sentence), LOG_INTERVAL_MS)
  return async (load, { id, verified }) => {
    const refused = refusalOf(context, verified ? id : undefined)
    if (refused !== undefined || id === undefined) {
      warn(refused ?? '', id ?? '')
      return { refused }
    }
    const report = readSyndicReport(load)
    const job = report && context.jobs.record(report.jid)
    if (!job) return { refused: 'This master does not have the job.' }
    const { jid, awaits } = report
    const [minions, unknown, waiting] = [report.minions, report.unknown, report.waiting].map((ids) =>
      ids.filter((one) => isMinionBelow(context, id, one)),
    ) as [string[], string[], string[]]
    await addMinionsBelow(context, id, { jid, minions, unknown, waiting, awaits })
    return { taken: true }
  }
}

/**
 * `_syndic_return`: returns of minions below a syndic (wire protocol §16), stored and announced as if they came from the minions.
 * The reply `null` comes when all are on disk; to a syndic of salt-ts it names those that were refused.
 */
export function syndicReturnHandler(context: WorkerContext): EncryptedHandler {
  const warn = onceInAWhile((sentence) => context.log.warn(sentence), LOG_INTERVAL_MS)
  return async (load, { id: claimed, verified, version }) => {
    const start = Date.now()
    const jobs = readSyndicReturn(load)
    const id = verified ? claimed : version < GENERATION_3 ? namedIn(context, jobs) : undefined
    const refused = refusalOf(context, id)
    if (refused !== undefined || id === undefined) {
      warn(refused ?? '', id ?? '')
      return verified ? { refused } : {}
    }
    await context.syndics.note(id)
    const dropped: [jid: string, id: string][] = []
    for (const job of jobs) {
      const admitted = await admit(context, id, job)
      for (const minion of job.returns.keys()) if (!admitted.has(minion)) dropped.push([job.jid, minion])
      await Promise.all(
        Array.from(admitted, async (minion) => {
          const { fun_args, ...ret } = job.returns.get(minion) ?? {}
          const shown = fun_args === undefined ? {} : { fun_args: maskSecretWords(fun_args, context.config) }
          await takeReturn(
            context,
            job.jid,
            minion,
            { ...ret, ...shown, fun: job.fun, jid: job.jid, id: minion },
            start,
          )
        }),
      )
    }
    if (dropped.length > 0)
      warn(
        `The syndic ${id} sent returns of minions that it does not speak for, such as ${dropped[0]?.[1]}. They are dropped.`,
        id,
      )
    return context.syndics.reports(id) ? { refused: dropped } : null
  }
}

/**
 * Return the id that a syndic of generation 2 gives itself, if that id has a key here. In that generation nothing proves the id.
 */
function namedIn({ keys }: WorkerContext, jobs: readonly SyndicReturn[]): string | undefined {
  const ids = new Set(jobs.map(({ syndic }) => syndic))
  const [id] = ids
  return ids.size === 1 && isMinionId(id) && keys.accepted(id) ? id : undefined
}

/**
 * Return the minions that a syndic may return for in a job. A job of the master below, which comes with its first returns, is
 * stored.
 */
async function admit(
  context: WorkerContext,
  syndic: string,
  job: SyndicReturn,
): Promise<ReadonlySet<MinionId>> {
  const { jid, returns, load } = job
  const ids = Array.from(returns.keys()).filter((one) => isMinionBelow(context, syndic, one))
  const known = context.jobs.record(jid)
  if (!known?.load && load) {
    const { owner: _owner, ...shown } = load
    await context.jobs.saveLoad(jid, { ...shown, jid, below: syndic }, ids)
    return new Set(ids)
  }
  const expected = new Set<string>(known?.minions)
  if (known?.load && context.syndics.reports(syndic) && !isOfMasterBelow(known.load))
    return new Set(ids.filter((one) => expected.has(one)))
  const others = ids.filter((one) => !expected.has(one))
  if (others.length > 0) await addMinionsBelow(context, syndic, { jid, minions: others })
  return new Set(ids)
}

/** Whether a job was published by a master below. */
const isOfMasterBelow = (load: Readonly<Record<string, unknown>>): boolean => typeof load.below === 'string'
