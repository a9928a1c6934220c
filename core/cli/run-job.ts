/** What `salt` does about a job: publishes it, waits, shows. */
import type { Log } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { shortList } from '../base/short-list.ts'
import {
  LocalClient,
  type NotStored,
  type PublishRequest,
  type Refusal,
  StoredWatch,
} from '../client/index.ts'
import type { MasterConfig } from '../config/index.ts'
import { expandTarget } from '../targets/index.ts'
import { keptElsewhere, tell } from './console.ts'
import { externalAuth } from './eauth.ts'
import { exitCodes } from './exit-codes.ts'
import { type ShowSettings, showResults } from './job-results.ts'
import { openLive } from './progress.ts'
import type { SaltFlags } from './salt-flags.ts'
import type { Tools } from './tools.ts'

export const wantsBatch = (flags: SaltFlags): boolean =>
  flags.batch !== undefined || flags['batch-safe-limit'] !== undefined

/** What Ctrl-C does, as far as the command is. */
interface Interrupt {
  act(): void
}

/** Publish a job, or a batch of them, and show what comes of it. Gives the exit code. */
export async function runJob(
  tools: Tools<MasterConfig>,
  request: PublishRequest,
  flags: SaltFlags,
): Promise<number> {
  const { config, printer } = tools
  const interrupt: Interrupt = { act: () => leave(undefined, request) }
  process.once('SIGINT', () => interrupt.act())
  const client = await connected(request, config, flags, tools.log)
  try {
    const { subset } = flags
    const wanted = !subset ? request : await client.chooseSubset(request, subset)
    if (flags.plan) return await (await import('./plan.ts')).showPlan(await client.plan(wanted), printer)
    const settings: ShowSettings = {
      printer,
      together: flags.static === true,
      showMissing: flags['show-timeout'] === true || (config.show_timeout && flags['hide-timeout'] !== true),
      summary: flags.summary === true || config.cli_summary,
      verbose: flags.verbose === true,
      group: flags.group === true,
      silently: flags.progress === true,
      fullReturn: flags['full-return'] === true,
      eachMissing: flags['show-timeout'] === true,
      passthrough: flags['retcode-passthrough'] === true,
      legacy: config.salt_exit_codes === 'legacy',
    }
    if (wantsBatch(flags) && !flags.doc) {
      const code = await inWaves(client, wanted, flags, { ...tools, interrupt }, settings)
      if (code !== undefined) return code
    }
    if (flags.async) {
      const { jid, refusals } = await client.runJob(wanted)
      return sayStarted(jid, refusals)
    }
    const stores = wanted.ret ? new StoredWatch(client.events, wanted.ret) : undefined
    const run = await (flags.stream ? client.cmdStream(wanted) : client.cmdIter(wanted))
    tellRefusals(run.refusals)
    interrupt.act = () => leave(run.jid, wanted)
    keptElsewhere(`The job ran; its results: salt-run jobs.lookup_jid ${run.jid}`)
    sayJid(run.jid, flags, config)
    // As in Salt: whose documentation it is does not matter, unless a program reads it.
    if (flags.doc || (wanted.fun === 'sys.doc' && printer.chosen === undefined))
      return await (await import('./docs.ts')).showMinionDocs(run, printer)
    const code = await showResults(run, {
      ...settings,
      live: openLive(run.counts, { bar: flags.progress === true, onTerminal: isForTerminal(flags) }),
      withoutKey: run.missing,
    })
    if (stores) tellNotStored(await stores.notStored(run.jid, run.minions))
    return code
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'CALL_REFUSED') throw error
    throw new SaltError(error.code, `${error.message}\n(--no-check sends it anyway.)`)
  } finally {
    await client.close()
  }
}

/** What is wrong with the target is said whether a master runs or not. */
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

/** A batch, if it becomes one: undefined if it does not. */
async function inWaves(
  client: LocalClient,
  request: PublishRequest,
  flags: SaltFlags,
  tools: Tools<MasterConfig> & { readonly interrupt: Interrupt },
  show: ShowSettings,
): Promise<number | undefined> {
  const { batchLines, batchSettings, batchSize, leaveBatch, showBatch, waveLine } = await import('./batch.ts')
  const say = batchLines(flags, tools.printer.chosen)
  const size = await batchSize(client, request, flags, { ...tools, say })
  if (size === undefined) return undefined
  const settings = batchSettings(flags)
  if (flags.async) {
    const { jid, refusals } = await client.startBatch(request, size, settings)
    return sayStarted(jid, refusals)
  }
  const onWave = ({ minions }: { readonly minions: readonly string[] }) => say(waveLine(minions))
  const batch = await client.cmdBatch(request, size, { ...settings, onWave })
  tellRefusals(batch.refusals)
  tools.interrupt.act = () => leaveBatch(batch)
  if (batch.minions.length > 0) sayJid(batch.jid, flags, tools.config)
  const live = flags.progress ? openLive(batch.counts, { bar: true, onTerminal: false }) : undefined
  return showBatch(batch, say, { ...show, live })
}

function sayStarted(jid: string, refusals: readonly Refusal[] | undefined): number {
  tellRefusals(refusals)
  process.stdout.write(`Executed command with job ID: ${jid}\n`)
  return exitCodes.ok
}

/** Known before the first return: who would refuse it, and why. Unless nobody would run it they are not asked for that. */
function tellRefusals(refusals: readonly Refusal[] = []): void {
  for (const { minions, reason } of refusals) {
    tell(`WARNING: ${namesOf(minions)} would refuse this, by what was last told: ${reason}`)
  }
}

/** The same reason once, with all its minions. */
function tellNotStored(all: readonly NotStored[]): void {
  const reasons = new Map<string, string[]>()
  for (const { id, returner, error } of all) {
    const reason = `the store of the returner ${returner}: ${error.replace(/\.?$/, '.')}`
    reasons.set(reason, [...(reasons.get(reason) ?? []), id])
  }
  for (const [reason, minions] of reasons)
    tell(
      `WARNING: The return of ${namesOf(minions)} is not in ${reason} It waits in the outbox there and is written as soon as the store takes it.`,
    )
}

const NAMED = 10

export const namesOf = (minions: readonly string[]): string => shortList(minions, NAMED)

/** Who asks for it gets it as Salt gives it: before the results. */
function sayJid(jid: string, flags: SaltFlags, config: MasterConfig): void {
  const line = `Executing job with jid ${jid}`
  if (flags.verbose) process.stdout.write(`${line}\n${'-'.repeat(line.length)}\n\n`)
  else if (flags['show-jid'] || config.show_jid) process.stdout.write(`jid: ${jid}\n`)
}

/** Nobody else writes to this terminal. */
const isForTerminal = (flags: SaltFlags): boolean =>
  process.stdout.isTTY === true &&
  flags['out-file'] === undefined &&
  flags['log-level'] === undefined &&
  flags.out !== 'quiet'

/** The job goes on without us. */
function leave(jid: string | undefined, { tgt, tgtType = 'glob' }: PublishRequest): never {
  const minions = tgtType === 'glob' && /^[\w.-]+$/.test(String(tgt)) ? String(tgt) : "'*'"
  const about = jid
    ? `The job with jid ${jid} goes on; look it up later:\n\nsalt-run jobs.lookup_jid ${jid} missing=True\n\n` +
      `To stop it: salt ${minions} saltutil.kill_job ${jid}`
    : 'Whether a job was published is not known yet; see:\n\nsalt-run jobs.list_jobs_filter 5'
  tell(`\nExiting on Ctrl-C. ${about}`)
  process.exit(exitCodes.interrupted)
}
