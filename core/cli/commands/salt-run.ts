import { resolve } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { currentUser } from '../../base/current-user.ts'
import { isJid } from '../../base/jid.ts'
import type { FunctionCaller } from '../../client/functions/function-client.ts'
import { killAfterTimeout, watchTermination } from '../../client/functions/run-endings.ts'
import { LocalClient, RunnerClient, WheelClient } from '../../client/index.ts'
import type { ExternalAuth } from '../../client/local/external-auth.ts'
import type { MasterConfig, MasterOptions } from '../../config/index.ts'
import { type Operator, operator } from '../../keys/index.ts'
import { typedWords } from '../../loader/calls/typed.ts'
import { parseWords } from '../../loader/calls/words.ts'
import { openLoader, usersStamp } from '../../loader/index.ts'
import type { RawCallArguments } from '../../wire/raw-arguments.ts'
import { switchToConfiguredUser } from '../daemons/become-user.ts'
import { externalAuth, isNotMasterUser } from '../eauth.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { authFlags, docFlag, functionFlags, moduleDirsFlag, number, profilingFlags } from '../flags.ts'
import { printNote } from '../output/console.ts'
import { showDocs } from '../output/docs.ts'
import { printRunResult, progressLine } from '../output/run-result.ts'
import { runnerDocs } from '../output/runner-docs.ts'
import { stdoutToStderr } from '../output/stdout-to-stderr.ts'
import { BaseProgram } from '../program/base-program.ts'
import { positionalWords } from '../program/positional-words.ts'
import { canSupervise, isSupervised, stderrFlushed, supervise } from '../program/supervised.ts'
import { openMasterTools, type Tools } from '../tools.ts'

export default class SaltRun extends BaseProgram {
  static override id = 'salt-run'
  static override strict = false
  static override description = "Run a function on the master's host."
  static override usage = 'salt-run [options] [[wheel] <function> [arguments]]'
  static override examples = [
    'salt-run manage.status',
    "salt-run jobs.list_jobs search_function='cmd.*'",
    'salt-run --async survey.hash tgt=web* fun=pkg.version vim',
    "salt-run wheel key.accept 'web*'",
  ]
  static readonly runsFunction = true
  static readonly essential = [
    'doc',
    'async',
    'timeout',
    'quiet',
    'args-stdin',
    'out',
    'out-file',
    'log-level',
    'config-dir',
  ]
  static override flags = {
    doc: docFlag('Show the documentation of one function, or of all functions.'),
    timeout: number({ char: 't', description: 'Seconds to wait for minions (config: timeout).' }),
    jid: string({ description: 'Run under this job id.' }),
    async: boolean({ description: 'Run the function in the background and print the job id.' }),
    'skip-grains': boolean({ description: 'No effect: no grains are collected.' }),
    quiet: boolean({ char: 'q', description: 'Print nothing.' }),
    'module-dirs': moduleDirsFlag('Additional folder of runners.'),
    ...profilingFlags,
    ...authFlags,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltRun)
    const { jid } = flags
    if (jid !== undefined && !isJid(jid))
      throw new UsageError(`--jid needs a job id, 20 digits (YYYYMMDDhhmmssffffff), not '${jid}'.`)
    const typed = parseCall(await positionalWords(raw, false))
    const readsLater = flags['args-stdin'] && typed.fun !== undefined && !flags.doc
    const { wheel, fun, words } =
      flags['args-stdin'] && !readsLater ? parseCall(await positionalWords(raw, true)) : typed
    const chosen = flags.quiet ? { ...flags, out: 'quiet' } : flags
    const tools = await openMasterTools('salt-run', chosen, overridesOf(flags))
    if (flags.doc || fun === undefined) return showDocs(await runnerDocs(tools, wheel, fun), tools.printer)
    const who = operator()
    const auth = await externalAuth(flags, tools.config, isNotMasterUser)
    const isAlone = !auth && !flags.async && !flags['enable-profiling'] && typed.fun !== undefined
    if (isAlone && canSupervise('salt-run') && (await mayBeUserFunction(tools, wheel, fun)))
      return superviseRun(tools, fun)
    if (!auth) switchToConfiguredUser('salt-run', tools.config)
    const noParse = flags['no-parse']?.split(',')
    const all = readsLater ? parseCall(await positionalWords(raw, true)).words : words
    const call = { fun, ...parseWords(all, noParse), words: typedWords(all, noParse), jid }
    const client = await clientFor(tools, { who, auth }, wheel, fun)
    try {
      return await (flags.async
        ? start(client, call, auth ? undefined : tools.config)
        : run(client, call, tools, { quiet: flags.quiet, here: !auth }))
    } finally {
      await client.close()
    }
  }
}

/** Split the words of the command line into function and arguments. */
function parseCall([first, ...rest]: readonly string[]) {
  const wheel = first === 'wheel'
  const [fun, ...words] = wheel ? rest : first === undefined ? [] : [first, ...rest]
  return { wheel, fun, words }
}

/** Whether the function may come from a user's file. No such file is read to find out. */
async function mayBeUserFunction(tools: Tools<MasterConfig>, wheel: boolean, fun: string): Promise<boolean> {
  const kinds = wheel ? (['wheel'] as const) : (['runners', 'wheel'] as const)
  if ((await usersStamp(kinds, { ...tools.config })) === '') return false
  return !(await openLoader(kinds[0], tools).isBuiltIn(fun))
}

/** Run the command in a child process: code of users may loop forever, or crash its process. */
async function superviseRun({ config, log }: Tools<MasterConfig>, fun: string): Promise<number> {
  const onStderr = (text: string) => log.debug('The process of {fun} ended with: {text}', { fun, text })
  const { endLostRuns } = await import('../../runs/lost-runs.ts')
  return supervise(fun, onStderr, () => endLostRuns(config).catch(() => undefined)) // otherwise the next master reports them
}

/** Return the options that the flags set. A folder of `-m` has a folder of runners, or is one. */
function overridesOf(flags: {
  readonly timeout?: number | undefined
  readonly 'module-dirs'?: string[] | undefined
}): Partial<MasterOptions> {
  const folders = flags['module-dirs']?.map((folder) => resolve(folder))
  return {
    ...(flags.timeout !== undefined && { timeout: flags.timeout }),
    ...(folders && { module_dirs: folders, runner_dirs: folders }),
  }
}

interface FunctionCall {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly words: RawCallArguments | undefined
  readonly jid: string | undefined
}

interface Caller {
  readonly who: Operator
  /** With credentials the master runs the function. */
  readonly auth: ExternalAuth | undefined
}

/** Choose the client. A name without `wheel` is that of a wheel function if no runner has it. */
async function clientFor(
  { config, log }: Tools<MasterConfig>,
  { who, auth }: Caller,
  wheel: boolean,
  fun: string,
): Promise<FunctionCaller> {
  const settings = { config, log, user: currentUser(), operator: who }
  const runners = new RunnerClient(settings)
  const wheels = new WheelClient(settings)
  const isWheel = wheel || (await stdoutToStderr(async () => !(await runners.has(fun)) && wheels.has(fun)))
  if (!auth) return isWheel ? wheels : runners
  const { RemoteFunctionClient } = await import('../../client/remote/remote-function-client.ts')
  return new RemoteFunctionClient(isWheel ? 'wheel' : 'runner', config, auth)
}

/**
 * Start a function in the background. The job id goes to standard output, the hint how to look up the result to
 * standard error. `config` is undefined if a master runs the function.
 */
async function start(
  client: FunctionCaller,
  { fun, args, kwargs, words, jid: wanted }: FunctionCall,
  config: MasterConfig | undefined,
): Promise<number> {
  const { jid, tag } = await client.start(fun, args, kwargs, { words, jid: wanted })
  process.stdout.write(`${jid}\n`)
  printNote(
    `Running in the background; its events have the tag ${tag}. Look up the result: salt-run jobs.lookup_jid ${jid}`,
  )
  if (config && !(await isMasterRunning(config)))
    printNote(
      `WARNING: No master is running with the configuration in ${config.config_dir}: ${fun} will fail if it needs one.`,
    )
  return exitCodes.ok
}

const isMasterRunning = (config: MasterConfig): Promise<boolean> =>
  LocalClient.connect(config).then(
    (client) => client.close().then(() => true),
    () => false,
  )

/** How long after Ctrl-C the process exits even if something still keeps it alive. */
const EXIT_DELAY_MS = 3000

interface RunOptions {
  readonly quiet: boolean
  /**
   * The function runs in this process. Otherwise the master runs it and continues after Ctrl-C, which the client
   * reports.
   */
  readonly here: boolean
}

/** Run a function and print its return. Ctrl-C aborts the signal of the runner. */
async function run(
  client: FunctionCaller,
  { fun, args, kwargs, words, jid }: FunctionCall,
  { config, printer }: Tools<MasterConfig>,
  { quiet, here }: RunOptions,
): Promise<number> {
  const { signal, interrupted } = watchTermination(fun, () => {
    if (here && !quiet)
      printNote('\nExiting on Ctrl-C. The runner is stopped; jobs that it sent to minions go on.')
    setTimeout(() => process.exit(exitCodes.interrupted), EXIT_DELAY_MS).unref()
  })
  if (isSupervised()) killAfterTimeout(fun, config.runner_timeout, false)
  const onProgress = (data: object) => {
    if (!quiet) printNote(progressLine(data))
  }
  const early = (code: number) => reportEarlyExit(fun, code)
  process.once('exit', early)
  const stored = jid !== undefined && { jid, store: true }
  const options = { signal, words, onProgress, ownProcess: 'foreground', ...stored } as const
  const result = await stdoutToStderr(() => client.run(fun, args, kwargs, options)).finally(() =>
    process.off('exit', early),
  )
  await stderrFlushed()
  if (interrupted() && !result.success) return exitCodes.interrupted
  const code = await printRunResult(result, printer)
  const isSaltsOk = config.salt_exit_codes === 'legacy' && typeof result.return === 'string'
  return isSaltsOk ? exitCodes.ok : code
}

/** Report that the function ended this process, or that it waits for what can never come. */
function reportEarlyExit(fun: string, code: number): void {
  if (code === exitCodes.brokenPipe || code === exitCodes.noOutput || code === exitCodes.interrupted) return
  printNote(`ERROR: ${fun} ended its process (exit code ${code}) before it returned.`)
  process.exitCode = code || exitCodes.failed
}
