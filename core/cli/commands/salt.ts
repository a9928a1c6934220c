import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { SaltError } from '../../base/errors.ts'
import { LocalClient, type PublishRequest, type Refusal } from '../../client/index.ts'
import type { MasterConfig } from '../../config/index.ts'
import { batchFlags } from '../batch-flags.ts'
import { tell } from '../console.ts'
import { externalAuth } from '../eauth.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { authFlags, diffFlag, docFlag, executorFlags, functionFlags, number } from '../flags.ts'
import { jobRequest, targetOf } from '../job-request.ts'
import { type ShowSettings, showResults } from '../job-results.ts'
import { openLive } from '../progress.ts'
import { openMasterTools, type Tools } from '../tools.ts'
import { wordsFrom } from '../words-stdin.ts'

const target = (char: 'E' | 'L' | 'G' | 'P' | 'N' | 'C' | 'I' | 'J' | 'S' | 'R', description: string) =>
  boolean({ char, description, helpGroup: 'TARGET' })

export default class Salt extends Command {
  static override id = 'salt'
  static override strict = false
  static override description = 'Run a function on minions and show what they return.'
  static override usage = "salt [options] '<target>' <function> [arguments]"
  static override examples = [
    "salt '*' test.ping",
    "salt -G 'os:Debian' cmd.run 'uname -a' timeout=10",
    'salt -L web01,web02 test.arg,test.ping 1 a=2 , --out json --static',
  ]
  static readonly essential = [
    'list',
    'grain',
    'compound',
    'preview-target',
    'doc',
    'timeout',
    'batch',
    'async',
    'verbose',
    'static',
    'out',
    'config-dir',
  ]
  static override flags = {
    pcre: target('E', 'The target is a regular expression on ids.'),
    list: target('L', 'The target is a list of ids, with commas.'),
    grain: target('G', 'The target is a grain: key:glob.'),
    'grain-pcre': target('P', 'The target is a grain: key:regular expression.'),
    nodegroup: target('N', 'The target is a nodegroup of the configuration.'),
    compound: target('C', "The target is compound: 'G@os:Debian and not web*'."),
    pillar: target('I', 'The target is a pillar value: key:glob.'),
    'pillar-pcre': target('J', 'The target is a pillar value: key:regular expression.'),
    ipcidr: target('S', 'The target is an address or a network.'),
    range: target('R', 'The target is a range, which a range server knows (range_server).'),
    'tgt-type': string({
      description: 'The target is of this type: data, or one of your own matchers.',
      helpGroup: 'TARGET',
    }),
    hosts: boolean({
      char: 'H',
      description: 'List the hosts of the roster that the target means; run nothing.',
      helpGroup: 'TARGET',
    }),
    delimiter: string({ description: 'Parts the keys of -G, -P, -I, -J (default :).', helpGroup: 'TARGET' }),
    subset: number({
      description: 'Only this many of them, at random, that have the function.',
      helpGroup: 'TARGET',
    }),
    'preview-target': boolean({
      description: 'Show whom the target means; run nothing.',
      helpGroup: 'TARGET',
    }),
    'config-dump': boolean({ description: 'Show the configuration as it is in effect; run nothing.' }),
    plan: boolean({
      description:
        'Show what would happen: on whom, with which arguments, who would refuse it. Send nothing.',
    }),
    'no-check': boolean({ description: 'Send it even if no minion would run it.' }),
    timeout: number({ char: 't', description: 'Seconds before silent minions are asked (config: timeout).' }),
    'gather-job-timeout': number({ description: 'Seconds they have to answer that.' }),
    async: boolean({ description: 'Print the job id, do not wait.' }),
    stream: boolean({ description: 'Show rows as functions yield them.' }),
    static: boolean({ char: 's', description: 'Print everything at the end, as one document.' }),
    verbose: boolean({ char: 'v', description: 'Say what is being done.' }),
    'show-jid': boolean({ description: 'Say the job id.' }),
    'show-timeout': boolean({ description: 'Name minions that did not return (default).' }),
    'hide-timeout': boolean({ description: 'Do not name them; the exit code tells still.' }),
    summary: boolean({ description: 'End with a summary.' }),
    progress: boolean({ char: 'p', description: 'Show a bar instead of results.' }),
    group: boolean({ description: 'Print equal answers once, at the end, with the ids of the minions.' }),
    'full-return': boolean({
      description: 'Of each minion the whole return, with the state of the job there.',
    }),
    doc: docFlag('Show the documentation of the function.'),
    ...batchFlags,
    metadata: string({ description: 'Map that goes with the job and its returns.' }),
    return: string({ description: 'Returners that also get the returns.' }),
    return_config: string({ description: 'Their alternative configuration.' }),
    return_kwargs: string({ description: 'Their options, a map.' }),
    ...executorFlags,
    'args-separator': string({
      description: 'Parts the arguments of several functions (default ,).',
      helpGroup: 'ARGUMENTS',
    }),
    'retcode-passthrough': boolean({
      description: 'Exit with the highest code of a function, not 1.',
    }),
    ...diffFlag,
    ...authFlags,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(Salt)
    if (flags.stream && flags.static)
      throw new UsageError(
        '--stream shows rows as they come, --static all at the end: leave out one of them.',
      )
    if (wantsBatch(flags)) (await import('../batch.ts')).checkBatchFlags(flags)
    if (flags.plan && flags.subset !== undefined)
      throw new UsageError(
        '--plan sends nothing, and --subset has to ask minions first; leave one of them out.',
      )
    if (flags.group && flags['full-return'])
      throw new UsageError(
        '--group puts equal answers together, and no full return is like another: leave one out.',
      )
    const words = await wordsFrom(raw, flags['args-stdin'])
    const { config, log, printer } = await openMasterTools('salt', flags)
    if (flags['config-dump']) {
      await printer.print(config, { outputter: 'yaml' })
      return exitCodes.ok
    }
    if (flags['preview-target']) {
      const { previewTarget } = await import('../preview.ts')
      const { minions, unknown } = await previewTarget(targetOf(words[0] ?? '*', flags), config, log)
      await printer.print(minions)
      if (unknown.length > 0) tell(`It is not known whether the target means ${namesOf(unknown)}.`)
      return exitCodes.ok
    }
    if (flags.hosts) {
      const { rosterHosts } = await import('../roster.ts')
      await printer.print(await rosterHosts(targetOf(words[0] ?? '*', flags), config, log))
      return exitCodes.ok
    }
    const request = { ...jobRequest(words, flags), check: flags['no-check'] !== true }
    return publish({ config, log, printer }, request, flags)
  }
}

type Flags = InferredFlags<typeof Salt.flags>

const wantsBatch = (flags: Flags): boolean =>
  flags.batch !== undefined || flags['batch-safe-limit'] !== undefined

/** What Ctrl-C does, as far as the command is. */
interface Interrupt {
  act(): void
}

async function publish(tools: Tools<MasterConfig>, request: PublishRequest, flags: Flags): Promise<number> {
  const { config, printer } = tools
  const interrupt: Interrupt = { act: () => leave(undefined) }
  process.once('SIGINT', () => interrupt.act())
  const client = await LocalClient.connect(config, await externalAuth(flags, config))
  try {
    const { subset } = flags
    const wanted = !subset ? request : await client.chooseSubset(request, subset)
    if (flags.plan) return await (await import('../plan.ts')).showPlan(await client.plan(wanted), printer)
    const settings: ShowSettings = {
      printer,
      together: flags.static === true,
      showMissing: flags['show-timeout'] === true || (config.show_timeout && flags['hide-timeout'] !== true),
      summary: flags.summary === true || config.cli_summary,
      verbose: flags.verbose === true,
      group: flags.group === true,
      silently: flags.progress === true,
      fullReturn: flags['full-return'] === true,
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
    const run = await (flags.stream ? client.cmdStream(wanted) : client.cmdIter(wanted))
    tellRefusals(run.refusals)
    interrupt.act = () => leave(run.jid)
    sayJid(run.jid, flags, config)
    if (flags.doc) return await (await import('../docs.ts')).showMinionDocs(run, printer)
    return await showResults(run, {
      ...settings,
      live: openLive(run.counts, { bar: flags.progress === true, onTerminal: isForTerminal(flags) }),
      withoutKey: run.missing,
    })
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'CALL_REFUSED') throw error
    throw new SaltError(error.code, `${error.message}\n(--no-check sends it all the same.)`)
  } finally {
    await client.close()
  }
}

/** A batch, if it becomes one: undefined if it does not. */
async function inWaves(
  client: LocalClient,
  request: PublishRequest,
  flags: Flags,
  tools: Tools<MasterConfig> & { readonly interrupt: Interrupt },
  show: ShowSettings,
): Promise<number | undefined> {
  const { batchLines, batchSettings, batchSize, leaveBatch, showBatch, waveLine } = await import(
    '../batch.ts'
  )
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

const NAMED = 10

function namesOf(minions: readonly string[]): string {
  const more = minions.length > NAMED ? ` and ${minions.length - NAMED} more` : ''
  return `${minions.slice(0, NAMED).join(', ')}${more}`
}

/** Who asks for it gets it as Salt gives it: before the results. */
function sayJid(jid: string, flags: Flags, config: MasterConfig): void {
  const line = `Executing job with jid ${jid}`
  if (flags.verbose) process.stdout.write(`${line}\n${'-'.repeat(line.length)}\n\n`)
  else if (flags['show-jid'] || config.show_jid) process.stdout.write(`jid: ${jid}\n`)
}

/** Nobody else writes to this terminal. */
const isForTerminal = (flags: Flags): boolean =>
  process.stdout.isTTY === true &&
  flags['out-file'] === undefined &&
  flags['log-level'] === undefined &&
  flags.out !== 'quiet'

/** The job goes on without us. */
function leave(jid: string | undefined): never {
  const about = jid
    ? `The job with jid ${jid} goes on; look it up later:\n\nsalt-run jobs.lookup_jid ${jid} missing=True`
    : 'Whether a job was published is not known yet; see:\n\nsalt-run jobs.list_jobs_filter 5'
  tell(`\nExiting on Ctrl-C. ${about}`)
  process.exit(exitCodes.interrupted)
}
