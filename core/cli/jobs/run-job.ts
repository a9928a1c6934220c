/** Publishes the job of `salt`, waits for its returns and prints them. */
import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { shortList } from '../../base/sentence.ts'
import {
  LocalClient,
  type PublishedJob,
  type PublishRequest,
  type Refusal,
  ReturnerWatch,
  type UnstoredReturn,
} from '../../client/index.ts'
import type { MasterConfig } from '../../config/index.ts'
import { shownTime } from '../../dialect/strftime.ts'
import { expandTarget } from '../../targets/index.ts'
import { externalAuth } from '../eauth.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote, setRecoveryHint } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'
import type { Tools } from '../tools.ts'
import { type ShowSettings, showResults } from './job-results.ts'
import { openProgress } from './progress.ts'
import type { SaltFlags } from './salt-flags.ts'

export const wantsBatch = (flags: SaltFlags): boolean =>
  flags.batch !== undefined || flags['batch-safe-limit'] !== undefined

/** The effect of Ctrl-C at the current step. */
interface Interrupt {
  act(): void
}

/** Publish a job or a batch, print its results and return the exit code. */
export async function runJobCommand(
  tools: Tools<MasterConfig>,
  request: PublishRequest,
  flags: SaltFlags,
): Promise<number> {
  const { config, printer, log } = tools
  const interrupt: Interrupt = { act: () => detachFromJob(undefined, request) }
  const onInterrupt = () => interrupt.act()
  process.once('SIGINT', onInterrupt)
  const client = await connected(request, config, flags, log)
  try {
    const { subset } = flags
    const wanted = !subset ? request : await client.chooseSubset(request, subset)
    if (flags.plan) return await (await import('./plan.ts')).showPlan(await client.plan(wanted), printer)
    if (wantsBatch(flags) && !flags.doc) {
      const code = await runBatch(client, wanted, flags, { ...tools, interrupt })
      if (code !== undefined) return code
    }
    if (flags.async) {
      const job = await client.runJob(wanted)
      warnOfNoDelivery(job, request)
      return printStarted(job)
    }
    return await runAndShow(client, wanted, flags, { ...tools, interrupt })
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'CALL_REFUSED') throw error
    throw new SaltError(error.code, `${error.message}\nUse --no-check to send it anyway.`)
  } finally {
    await client.close()
    process.off('SIGINT', onInterrupt)
  }
}

type JobTools = Tools<MasterConfig> & { readonly interrupt: Interrupt }

/** Publish a job, wait for its returns and print them. */
async function runAndShow(
  client: LocalClient,
  request: PublishRequest,
  flags: SaltFlags,
  { config, printer, interrupt }: JobTools,
): Promise<number> {
  const stores = request.ret ? new ReturnerWatch(client.events, request.ret) : undefined
  const run = await (flags.stream ? client.cmdStream(request) : client.cmdIter(request))
  warnOfRefusals(run.refusals)
  warnOfNoDelivery(run, request)
  interrupt.act = () => detachFromJob(run.jid, request)
  setRecoveryHint(`The job ran; its results: salt-run jobs.lookup_jid ${run.jid}`)
  printJid(run.jid, flags, config)
  // As in Salt, documentation is printed once for all minions, unless a program reads it.
  if (flags.doc || (request.fun === 'sys.doc' && printer.chosen === undefined))
    return (await import('../output/docs.ts')).showMinionDocs(run, printer)
  const code = await showResults(run, {
    ...showSettings(flags, config, printer),
    progress: openProgress(run.counts, { bar: flags.progress === true, onTerminal: isForTerminal(flags) }),
    withoutKey: run.missing,
  })
  if (stores) warnOfNotStored(await stores.notStored(run.jid, run.minions))
  return code
}

const showSettings = (flags: SaltFlags, config: MasterConfig, printer: Printer): ShowSettings => ({
  printer,
  isStatic: flags.static === true,
  showMissing: flags['show-timeout'] === true || (config.show_timeout && flags['hide-timeout'] !== true),
  summary: flags.summary === true || config.cli_summary,
  verbose: flags.verbose === true,
  group: flags.group === true,
  silently: flags.progress === true,
  fullReturn: flags['full-return'] === true,
  eachMissing: flags['show-timeout'] === true,
  passthrough: flags['retcode-passthrough'] === true,
  legacy: config.salt_exit_codes === 'legacy',
})

/** Connect to the master. If none runs, errors of the target are still reported first. */
async function connected(
  request: PublishRequest,
  config: MasterConfig,
  flags: SaltFlags,
  log: Log,
): Promise<LocalClient> {
  const auth = await externalAuth(flags, config)
  try {
    return await LocalClient.connect(config, auth, log)
  } catch (error) {
    const { tgt, tgtType = 'glob' } = request
    await expandTarget({ tgt, tgt_type: tgtType }, { config })
    throw error
  }
}

/** Run the job as a batch and return the exit code. Undefined if it is not a batch. */
async function runBatch(
  client: LocalClient,
  request: PublishRequest,
  flags: SaltFlags,
  tools: JobTools,
): Promise<number | undefined> {
  const { batchNotes, batchSettings, batchSize, detachFromBatch, showBatch, waveLine } = await import(
    './batch.ts'
  )
  const say = batchNotes(flags, tools.printer.chosen)
  const size = await batchSize(client, request, flags, { ...tools, say })
  if (size === undefined) return undefined
  const settings = batchSettings(flags)
  if (flags.async) {
    return printStarted(await client.startBatch(request, size, settings))
  }
  const onWave = ({ minions }: { readonly minions: readonly string[] }) => say(waveLine(minions))
  const batch = await client.cmdBatch(request, size, { ...settings, onWave })
  warnOfRefusals(batch.refusals)
  tools.interrupt.act = () => detachFromBatch(batch)
  if (batch.minions.length > 0) printJid(batch.jid, flags, tools.config)
  const progress = flags.progress ? openProgress(batch.counts, { bar: true, onTerminal: false }) : undefined
  return showBatch(batch, say, {
    ...showSettings(flags, tools.config, tools.printer),
    progress,
  })
}

function printStarted({ jid, refusals, delivery }: PublishedJob): number {
  warnOfRefusals(refusals)
  if (delivery && delivery.waiting.length > 0)
    printNote(
      `${shortIdList(delivery.waiting)} will get the job on connecting before ${shownTime(delivery.until.getTime())}.`,
    )
  process.stdout.write(`Executed command with job ID: ${jid}\n`)
  return exitCodes.ok
}

/** Warn of a master that does not keep the job for minions that are away. */
function warnOfNoDelivery(
  { jid, delivery }: PublishedJob,
  { deliverWithin }: Pick<PublishRequest, 'deliverWithin'>,
) {
  if (!deliverWithin || delivery) return
  printNote(
    `WARNING: Minions that are away will not get job ${jid}: this master (Python Salt, or an older salt-ts) cannot deliver jobs later.`,
  )
}

/** Warn of minions that would refuse the job according to their catalogues. This is known before the first return. */
function warnOfRefusals(refusals: readonly Refusal[] = []): void {
  for (const { minions, reason } of refusals) {
    printNote(`WARNING: ${shortIdList(minions)} would refuse this, as far as the master knows: ${reason}`)
  }
}

/** Warn of returns that are not stored, once per reason. */
function warnOfNotStored(all: readonly UnstoredReturn[]): void {
  const reasons = new Map<string, string[]>()
  for (const { id, returner, error } of all) {
    const reason = `the store of the returner ${returner}: ${error.replace(/\.?$/, '.')}`
    reasons.set(reason, [...(reasons.get(reason) ?? []), id])
  }
  for (const [reason, minions] of reasons)
    printNote(
      `WARNING: The return of ${shortIdList(minions)} is not yet in ${reason} It waits in the minion's outbox and is written when the store accepts it.`,
    )
}

const MAX_IDS = 10

export const shortIdList = (minions: readonly string[]): string => shortList(minions, MAX_IDS)

/** Print the job id before the results, as Salt does, if `-v` or `--show-jid` asks for it. */
function printJid(jid: string, flags: SaltFlags, config: MasterConfig): void {
  const line = `Executing job with jid ${jid}`
  if (flags.verbose) process.stdout.write(`${line}\n${'-'.repeat(line.length)}\n\n`)
  else if (flags['show-jid'] || config.show_jid) process.stdout.write(`jid: ${jid}\n`)
}

/** Whether results go to the terminal and no log does. */
const isForTerminal = (flags: SaltFlags): boolean =>
  process.stdout.isTTY === true &&
  flags['out-file'] === undefined &&
  flags['log-level'] === undefined &&
  flags.out !== 'quiet'

/** Handle Ctrl-C: print how to find the job, which goes on, and exit. */
function detachFromJob(jid: string | undefined, { tgt, tgtType = 'glob' }: PublishRequest): never {
  const minions = tgtType === 'glob' && /^[\w.-]+$/.test(String(tgt)) ? String(tgt) : "'*'"
  const about = jid
    ? `The job with jid ${jid} is still running. Look up its results later:\n\nsalt-run jobs.lookup_jid ${jid} missing=True\n\n` +
      `To stop it: salt ${minions} saltutil.kill_job ${jid}`
    : 'Whether a job was published is not known yet; see:\n\nsalt-run jobs.list_jobs_filter 5'
  printNote(`\nExiting on Ctrl-C. ${about}`)
  process.exit(exitCodes.interrupted)
}
