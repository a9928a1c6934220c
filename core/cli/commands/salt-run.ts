import { Command } from '@oclif/core/command'
import { boolean } from '@oclif/core/flags'
import { currentUser } from '../../base/current-user.ts'
import { RunnerClient } from '../../client/runner-client.ts'
import type { MasterConfig } from '../../config/index.ts'
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
  static override usage = 'salt-run [options] [<function> [arguments]]'
  static override examples = ['salt-run manage.status', "salt-run jobs.list_jobs search_function='cmd.*'"]
  static readonly essential = [
    'doc',
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
    async: boolean({ description: 'Not yet.' }),
    'skip-grains': boolean({ description: 'Does nothing: no grains are collected.' }),
    quiet: boolean({ char: 'q', description: 'Print nothing.' }),
    ...profilingFlags,
    ...authFlags,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltRun)
    if (flags.async) throw new UsageError('Runners in the background are not there yet; leave out --async.')
    if (flags.eauth !== undefined || flags['make-token'])
      throw new UsageError(
        'salt-run runs on this host, as the user of the master; through --eauth it cannot yet.',
      )
    const [fun, ...words] = await wordsFrom(raw, flags['args-stdin'])
    const chosen = flags.quiet ? { ...flags, out: 'quiet' } : flags
    const timeout = flags.timeout === undefined ? {} : { timeout: flags.timeout }
    const tools = await openMasterTools('salt-run', chosen, timeout)
    if (flags.doc || fun === undefined) {
      return showDocs(await matchingDocs(openLoader('runners', tools).view, fun), tools.printer)
    }
    runAs(tools.config.user)
    const noParse = flags['no-parse']?.split(',')
    return run(tools, { fun, ...parseWords(words, noParse), words: typedWords(words, noParse) })
  }
}

interface Call {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly words: TypedWords | undefined
}

/** A runner that does not end by itself on Ctrl-C is left behind after so long. */
const TIDY_MS = 1000

/** Ctrl-C reaches the runner as its signal. */
async function run(
  { config, log, printer }: Tools<MasterConfig>,
  { fun, args, kwargs, words }: Call,
): Promise<number> {
  const client = new RunnerClient({ config, log, user: currentUser() })
  const { signal } = interruption()
  try {
    const { return: value, success, retcode, outputter } = await client.run(fun, args, kwargs, signal, words)
    if (signal.aborted && !success) return exitCodes.interrupted
    if (!success && typeof value === 'string') tell(value)
    else if (value !== null) await printer.print(value, { outputter, retcode })
    if (config.salt_exit_codes === 'legacy' && typeof value === 'string') return exitCodes.ok
    return success ? exitCodes.ok : passedThrough(retcode) || exitCodes.failed
  } finally {
    await client.close()
  }
}

function interruption(): AbortController {
  const interrupted = new AbortController()
  process.once('SIGINT', () => {
    interrupted.abort()
    setTimeout(() => process.exit(exitCodes.interrupted), TIDY_MS).unref()
  })
  return interrupted
}
