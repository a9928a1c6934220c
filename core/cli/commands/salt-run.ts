import { resolve } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { currentUser } from '../../base/current-user.ts'
import { jsonText } from '../../base/json.ts'
import type { ExternalAuth } from '../../client/external-auth.ts'
import type { FunctionCaller } from '../../client/function-client.ts'
import { LocalClient, RunnerClient, WheelClient } from '../../client/index.ts'
import { killAfter, watchEndings } from '../../client/run-process.ts'
import type { MasterConfig, MasterOptions } from '../../config/index.ts'
import { isJid } from '../../jobs/jid.ts'
import { type Operator, operator } from '../../keys/index.ts'
import { openLoader, usersStamp } from '../../loader/index.ts'
import { typedWords } from '../../loader/typed.ts'
import { parseWords } from '../../loader/words.ts'
import type { TypedWords } from '../../wire/typed-words.ts'
import { BaseProgram } from '../base-program.ts'
import { runAs } from '../become-user.ts'
import { tell } from '../console.ts'
import { showDocs } from '../docs.ts'
import { externalAuth, isStranger } from '../eauth.ts'
import { exitCodeFor, exitCodes, passedThrough, UsageError } from '../exit-codes.ts'
import { authFlags, docFlag, functionFlags, moduleDirsFlag, number, profilingFlags } from '../flags.ts'
import { matchingDocs } from '../loader-docs.ts'
import { outputAside } from '../output-aside.ts'
import { canSupervise, errorsShown, isSupervised, supervise } from '../supervised.ts'
import { openMasterTools, type Tools } from '../tools.ts'
import { wordsFrom } from '../words-stdin.ts'

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
    doc: docFlag('Show the documentation of the function, or of all.'),
    timeout: number({ char: 't', description: 'Seconds to wait for minions (config: timeout).' }),
    jid: string({ description: 'The job id to run under, and to look it up by.' }),
    async: boolean({ description: 'Run it in the background and print the job id.' }),
    'skip-grains': boolean({ description: 'Does nothing: no grains are collected.' }),
    quiet: boolean({ char: 'q', description: 'Print nothing.' }),
    'module-dirs': moduleDirsFlag('Folder with more runners.'),
    ...profilingFlags,
    ...authFlags,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltRun)
    const { jid } = flags
    if (jid !== undefined && !isJid(jid))
      throw new UsageError(`--jid needs a job id, 20 digits (YYYYMMDDhhmmssffffff), not '${jid}'.`)
    const typed = called(await wordsFrom(raw, false))
    const readsLater = flags['args-stdin'] && typed.fun !== undefined && !flags.doc
    const { wheel, fun, words } =
      flags['args-stdin'] && !readsLater ? called(await wordsFrom(raw, true)) : typed
    const chosen = flags.quiet ? { ...flags, out: 'quiet' } : flags
    const tools = await openMasterTools('salt-run', chosen, overridesOf(flags))
    if (flags.doc || fun === undefined) return showDocs(await docs(tools, wheel, fun), tools.printer)
    const who = operator()
    const auth = await externalAuth(flags, tools.config, isStranger)
    const isAlone = !auth && !flags.async && !flags['enable-profiling'] && typed.fun !== undefined
    if (isAlone && canSupervise('salt-run') && (await isOfUsers(tools, wheel, fun)))
      return superviseRun(tools, fun)
    if (!auth) runAs('salt-run', tools.config)
    const noParse = flags['no-parse']?.split(',')
    const all = readsLater ? called(await wordsFrom(raw, true)).words : words
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

/** A function of the command line, with its arguments. */
function called([first, ...rest]: readonly string[]) {
  const wheel = first === 'wheel'
  const [fun, ...words] = wheel ? rest : first === undefined ? [] : [first, ...rest]
  return { wheel, fun, words }
}

/** Whether a file of users may have the function. None is read for that. */
async function isOfUsers(tools: Tools<MasterConfig>, wheel: boolean, fun: string): Promise<boolean> {
  const kinds = wheel ? (['wheel'] as const) : (['runners', 'wheel'] as const)
  if ((await usersStamp(kinds, { ...tools.config })) === '') return false
  return !(await openLoader(kinds[0], tools).isBuiltIn(fun))
}

/** The code of users may be in a loop for ever, or take this process with it. */
async function superviseRun({ config, log }: Tools<MasterConfig>, fun: string): Promise<number> {
  const native = (text: string) => log.debug('The process of {fun} ended with: {text}', { fun, text })
  const { endLostRuns } = await import('../../jobs/lost-runs.ts')
  return supervise(fun, native, () => endLostRuns(config).catch(() => undefined)) // the next master tells it
}

/** Folders of `-m` have folders of runners, or are one. */
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

interface Call {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly words: TypedWords | undefined
  readonly jid: string | undefined
}

interface Caller {
  readonly who: Operator
  /** Then it is the master that runs functions. */
  readonly auth: ExternalAuth | undefined
}

/** Wheel functions are reached by their names as well, where no runner has the same. */
async function clientFor(
  { config, log }: Tools<MasterConfig>,
  { who, auth }: Caller,
  wheel: boolean,
  fun: string,
): Promise<FunctionCaller> {
  const settings = { config, log, user: currentUser(), operator: who }
  const runners = new RunnerClient(settings)
  const wheels = new WheelClient(settings)
  const isWheel = wheel || (await outputAside(async () => !(await runners.has(fun)) && wheels.has(fun)))
  if (!auth) return isWheel ? wheels : runners
  const { RemoteFunctionClient } = await import('../../client/remote-function-client.ts')
  return new RemoteFunctionClient(isWheel ? 'wheel' : 'runner', config, auth)
}

/** Of the runners; of the wheel functions only where they are asked for. */
async function docs(tools: Tools<MasterConfig>, wheel: boolean, word: string | undefined) {
  const wheels = openLoader('wheel', tools).view
  if (wheel) return matchingDocs(wheels, word)
  const runners = openLoader('runners', tools).view
  if (word === undefined) return matchingDocs(runners, word)
  const known = [...(await runners.functions(word)), ...(await runners.functions(`${word}.*`))]
  const isWheel = known.length === 0 && (await wheels.modules(word.split('.')[0])).length > 0
  return matchingDocs(isWheel ? wheels : runners, word)
}

/** The job id is the data; how to get at the result is for people. `config`: of a master that may not run. */
async function start(
  client: FunctionCaller,
  { fun, args, kwargs, words, jid: wanted }: Call,
  config: MasterConfig | undefined,
): Promise<number> {
  const { jid, tag } = await client.start(fun, args, kwargs, { words, jid: wanted })
  process.stdout.write(`${jid}\n`)
  tell(`It runs in the background under the tag ${tag}. Look up the result: salt-run jobs.lookup_jid ${jid}`)
  if (config && !(await masterRuns(config)))
    tell(
      `WARNING: No master runs with the configuration in ${config.config_dir}: ${fun} fails if it needs one.`,
    )
  return exitCodes.ok
}

const masterRuns = (config: MasterConfig): Promise<boolean> =>
  LocalClient.connect(config).then(
    (client) => client.close().then(() => true),
    () => false,
  )

/** Whatever still keeps the process is left behind so long after Ctrl-C. */
const HURRY_MS = 3000

interface Manner {
  readonly quiet: boolean
  /** In this process; else the master runs it, and goes on, which the client tells. */
  readonly here: boolean
}

/** Ctrl-C reaches the runner as its signal. */
async function run(
  client: FunctionCaller,
  { fun, args, kwargs, words, jid }: Call,
  { config, printer }: Tools<MasterConfig>,
  { quiet, here }: Manner,
): Promise<number> {
  const { signal, interrupted } = watchEndings(fun, () => {
    if (here && !quiet) tell('\nExiting on Ctrl-C. The runner is ended; jobs that it sent to minions go on.')
    setTimeout(() => process.exit(exitCodes.interrupted), HURRY_MS).unref()
  })
  if (isSupervised()) killAfter(fun, config.runner_timeout, false)
  const onProgress = (data: object) => {
    if (!quiet) tell(progressLine(data))
  }
  const early = (code: number) => leftEarly(fun, code)
  process.once('exit', early)
  const stored = jid !== undefined && { jid, store: true }
  const options = { signal, words, onProgress, alone: 'foreground', ...stored } as const
  const result = await outputAside(() => client.run(fun, args, kwargs, options)).finally(() =>
    process.off('exit', early),
  )
  await errorsShown()
  const { return: value, success, retcode, outputter, failure } = result
  if (interrupted() && !success) return exitCodes.interrupted
  if (!success && typeof value === 'string') tell(failure ? `ERROR: ${value}` : value)
  else if (value !== null) await printer.print(value, { outputter, retcode })
  if (config.salt_exit_codes === 'legacy' && typeof value === 'string') return exitCodes.ok
  if (failure) return exitCodeFor(failure)
  return success ? exitCodes.ok : passedThrough(retcode) || exitCodes.failed
}

/** The function has ended this process, or waits for what can never come. */
function leftEarly(fun: string, code: number): void {
  if (code === exitCodes.brokenPipe || code === exitCodes.noOutput || code === exitCodes.interrupted) return
  tell(`ERROR: ${fun} ended the process it runs in (exit code ${code}) before it was done.`)
  process.exitCode = code || exitCodes.failed
}

/** `{message}` is what runners mostly tell, and `{return}` what they yield. */
function progressLine(data: object): string {
  const told = 'message' in data ? data.message : 'return' in data ? data.return : data
  return typeof told === 'string' ? told : jsonText(told)
}
