/** `salt --batch`: its flags, and what it prints. */

import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import type { BatchRun, BatchSettings, LocalClient, PublishRequest } from '../../client/index.ts'
import type { MasterConfig } from '../../config/index.ts'
import { invalidBatch, invalidMaxFail, readBatch, readBatchSize } from '../../jobs/batch-size.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import { type ShowSettings, showResults } from './job-results.ts'
import { previewTarget } from './preview.ts'

export interface BatchFlags {
  readonly batch?: string | undefined
  readonly 'batch-wait'?: number | undefined
  readonly failhard?: boolean
  readonly 'batch-max-fail'?: string | undefined
  readonly 'batch-safe-limit'?: number | undefined
  readonly 'batch-safe-size'?: string | undefined
  readonly async?: boolean
  readonly stream?: boolean
  readonly static?: boolean
  readonly progress?: boolean
  readonly doc?: boolean
  readonly plan?: boolean
}

const DEFAULT_SAFE_SIZE = '8'

/**
 * Check the flags before anything is sent.
 * @throws UsageError
 */
export function checkBatchFlags(flags: BatchFlags): void {
  const { batch, 'batch-max-fail': maxFail, 'batch-safe-size': safeSize, 'batch-wait': wait } = flags
  for (const size of [batch, safeSize])
    if (size !== undefined && !readBatch(size)) throw new UsageError(invalidBatch(size))
  if (maxFail !== undefined && !readBatchSize(maxFail)) throw new UsageError(invalidMaxFail(maxFail))
  if (wait !== undefined && wait < 0)
    throw new UsageError(`--batch-wait needs a number of seconds, not '${wait}'.`)
  if (flags.stream && batch !== undefined)
    throw new UsageError('--stream follows one job, and a batch consists of several: leave one out.')
}

/**
 * Return the batch size: that of `--batch`, or the safe size if the target matches too many minions. Undefined: no
 * batch.
 */
export async function batchSize(
  client: LocalClient,
  request: PublishRequest,
  flags: BatchFlags,
  tools: { readonly config: MasterConfig; readonly log: Log; readonly say: (line: string) => void },
): Promise<string | undefined> {
  const { batch, 'batch-safe-limit': limit = 0 } = flags
  if (batch !== undefined || limit <= 1 || flags.async || flags.stream) return batch
  if ((await countMinions(client, request, tools)) < limit) return undefined
  tools.say('\nNOTICE: Too many minions targeted, switching to batch execution.')
  return flags['batch-safe-size'] ?? DEFAULT_SAFE_SIZE
}

/**
 * Count the minions of a target, as the master does. A master of Python Salt makes no plans; then the data on this
 * host decides.
 */
async function countMinions(
  client: LocalClient,
  request: PublishRequest,
  { config, log }: { readonly config: MasterConfig; readonly log: Log },
): Promise<number> {
  try {
    const plan = await client.plan(request)
    return plan.allowed ? plan.minions.length : 0
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'INVOCATION') throw error
  }
  const { tgt, tgtType = 'glob', delimiter } = request
  const target = { tgt, tgtType, ...(delimiter !== undefined && { delimiter }) }
  return (await previewTarget(target, config, log)).minions.length
}

export function batchSettings(flags: BatchFlags): Omit<BatchSettings, 'onWave'> {
  return {
    batchWait: flags['batch-wait'],
    failhard: flags.failhard,
    maxFail: flags['batch-max-fail'],
  }
}

/**
 * Return the function that prints notes about the batch: among the results if people read them, as in Salt; on
 * standard error if programs do.
 */
export function batchNotes({ static: isStatic, progress }: BatchFlags, chosen: string | undefined) {
  return (line: string) => {
    if (isStatic || progress || chosen !== undefined) printNote(line)
    else process.stdout.write(`${line}\n`)
  }
}

export const waveLine = (ids: readonly string[]): string =>
  `\nExecuting run on [${[...ids]
    .sort()
    .map((id) => `'${id}'`)
    .join(', ')}]\n`

/** Print the results of a batch and return the exit code. */
export async function showBatch(
  batch: BatchRun,
  say: (line: string) => void,
  settings: ShowSettings,
): Promise<number> {
  const next = batch.deliversLater ? '' : ' No job will be sent.'
  for (const id of batch.silent) say(`Minion ${id} did not respond.${next}`)
  const code = await showResults(batch, settings)
  if (batch.halted === undefined) return code
  const left = batch.queued.length > 0 ? ` Not reached: ${batch.queued.join(', ')}` : ''
  printNote(`ERROR: ${batch.halted}${left}`)
  return code === exitCodes.ok ? exitCodes.failed : code
}

/** Handle Ctrl-C: no further waves. Those that were sent go on. */
export function detachFromBatch({ jid, queued }: BatchRun): never {
  const left = queued.length > 0 ? `It was not sent to: ${queued.join(', ')}` : 'It was sent to all minions.'
  printNote(
    `\nExiting on Ctrl-C. The batch with jid ${jid} is stopped. ${left}\n` +
      `Minions that run it continue. Look up their results later:\n\nsalt-run jobs.lookup_jid ${jid}`,
  )
  process.exit(exitCodes.interrupted)
}
