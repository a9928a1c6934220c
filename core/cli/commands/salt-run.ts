import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import { currentUser } from '../../base/current-user.ts'
import { jsonText } from '../../base/json.ts'
import { type FunctionClient, RunnerClient, WheelClient } from '../../client/index.ts'
import type { MasterConfig } from '../../config/index.ts'
import { isJid } from '../../jobs/jid.ts'
import { type Operator, operator } from '../../keys/index.ts'
import { openLoader } from '../../loader/index.ts'
import { typedWords } from '../../loader/typed.ts'
import { parseWords } from '../../loader/words.ts'
import type { TypedWords } from '../../wire/typed-words.ts'
import { runAs } from '../become-user.ts'
import { tell } from '../console.ts'
import { showDocs } from '../docs.ts'
import { exitCodes, passedThrough, UsageError } from '../exit-codes.ts'
import { authFlags, docFlag, functionFlags, number, profilingFlags } from '../flags.ts'
import { matchingDocs } from '../loader-docs.ts'
import { openMasterTools, type Tools } from '../tools.ts'
import { wordsFrom } from '../words-stdin.ts'

export default class SaltRun extends Command {
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
    ...profilingFlags,
    ...authFlags,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltRun)
    const { jid } = flags
    if (jid !== undefined && !isJid(jid))
      throw new UsageError(`--jid needs a job id, 20 digits (YYYYMMDDhhmmssffffff), not '${jid}'.`)
    if (flags.eauth !== undefined || flags['make-token'])
      throw new UsageError(
        'salt-run runs on this host, as the user of the master; through --eauth it cannot yet.',
      )
    const [first, ...rest] = await wordsFrom(raw, flags['args-stdin'])
    const wheel = first === 'wheel'
    const [fun, ...words] = wheel ? rest : first === undefined ? [] : [first, ...rest]
    const chosen = flags.quiet ? { ...flags, out: 'quiet' } : flags
    const timeout = flags.timeout === undefined ? {} : { timeout: flags.timeout }
    const tools = await openMasterTools('salt-run', chosen, timeout)
    if (flags.doc || fun === undefined) return showDocs(await docs(tools, wheel, fun), tools.printer)
    const who = operator()
    runAs(tools.config.user)
    const noParse = flags['no-parse']?.split(',')
    const call = { fun, ...parseWords(words, noParse), words: typedWords(words, noParse), jid }
    const client = await clientFor(tools, who, wheel, fun)
    try {
      return await (flags.async ? start(client, call) : run(client, call, tools, flags.quiet))
    } finally {
      await client.close()
    }
  }
}

interface Call {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly words: TypedWords | undefined
  readonly jid: string | undefined
}

/** Wheel functions are reached by their names as well, where no runner has the same. */
async function clientFor(
  tools: Tools<MasterConfig>,
  who: Operator,
  wheel: boolean,
  fun: string,
): Promise<FunctionClient> {
  const settings = { config: tools.config, log: tools.log, user: currentUser(), operator: who }
  const runners = new RunnerClient(settings)
  if (!wheel && (await runners.has(fun))) return runners
  const wheels = new WheelClient(settings)
  return wheel || (await wheels.has(fun)) ? wheels : runners
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

/** The job id is the data; how to get at the result is for people. */
async function start(
  client: FunctionClient,
  { fun, args, kwargs, words, jid: wanted }: Call,
): Promise<number> {
  const { jid, tag } = await client.start(fun, args, kwargs, { words, jid: wanted })
  process.stdout.write(`${jid}\n`)
  tell(`It runs in the background under the tag ${tag}. Look up the result: salt-run jobs.lookup_jid ${jid}`)
  return exitCodes.ok
}

/** A runner that does not end by itself on Ctrl-C is left behind after so long. */
const TIDY_MS = 1000

/** Ctrl-C reaches the runner as its signal. */
async function run(
  client: FunctionClient,
  { fun, args, kwargs, words, jid }: Call,
  { config, printer }: Tools<MasterConfig>,
  quiet: boolean,
): Promise<number> {
  const { signal } = interruption()
  const onProgress = (data: object) => {
    if (!quiet) tell(progressLine(data))
  }
  const options = { signal, words, onProgress, ...(jid !== undefined && { jid, store: true }) }
  const { return: value, success, retcode, outputter } = await client.run(fun, args, kwargs, options)
  if (signal.aborted && !success) return exitCodes.interrupted
  if (!success && typeof value === 'string') tell(value)
  else if (value !== null) await printer.print(value, { outputter, retcode })
  if (config.salt_exit_codes === 'legacy' && typeof value === 'string') return exitCodes.ok
  return success ? exitCodes.ok : passedThrough(retcode) || exitCodes.failed
}

/** `{message}` is what runners mostly tell, and `{return}` what they yield. */
function progressLine(data: object): string {
  const told = 'message' in data ? data.message : 'return' in data ? data.return : data
  return typeof told === 'string' ? told : jsonText(told)
}

function interruption(): AbortController {
  const interrupted = new AbortController()
  process.once('SIGINT', () => {
    interrupted.abort()
    setTimeout(() => process.exit(exitCodes.interrupted), TIDY_MS).unref()
  })
  return interrupted
}
