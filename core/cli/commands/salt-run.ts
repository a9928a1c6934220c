import { Command } from '@oclif/core/command'
import { boolean } from '@oclif/core/flags'
import { currentUser } from '../../base/current-user.ts'
import { RunnerClient } from '../../client/runner-client.ts'
import { loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { openLoader } from '../../loader/index.ts'
import { parseWords } from '../../loader/words.ts'
import type { Logger } from '../../log/index.ts'
import { runAs } from '../become-user.ts'
import { openConsoleLog, tell, tellWarnings } from '../console.ts'
import { showDocs } from '../docs.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { argumentFlags, configFlags, helpFlags, logFlags, number, outputFlags } from '../flags.ts'
import { matchingDocs } from '../loader-docs.ts'
import { openPrinter, type Printer } from '../printer.ts'
import { wordsFrom } from '../words-stdin.ts'

export default class SaltRun extends Command {
  static override id = 'salt-run'
  static override strict = false
  static override description = "Run a function on the master's host."
  static override usage = 'salt-run [options] [<function> [arguments]]'
  static override examples = ['salt-run manage.status', "salt-run jobs.list_jobs search_function='cmd.*'"]
  static override flags = {
    doc: boolean({ char: 'd', description: 'Show the documentation of the function, or of all.' }),
    timeout: number({ char: 't', description: 'Seconds; the same as timeout= for runners that have it.' }),
    async: boolean({ description: 'Not yet.' }),
    'skip-grains': boolean({ description: 'Does nothing: no grains are collected.' }),
    quiet: boolean({ char: 'q', description: 'Print nothing.' }),
    ...argumentFlags,
    ...outputFlags,
    ...logFlags,
    ...configFlags,
    ...helpFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltRun)
    if (flags.async) throw new UsageError('Runners in the background are not there yet; leave out --async.')
    const [fun, ...words] = await wordsFrom(raw, flags['args-stdin'])
    const { config, warnings } = loadMasterConfig({
      ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
    })
    const log = await openConsoleLog('salt-run', flags, config)
    tellWarnings(log, flags, warnings)
    const printer = await openPrinter(flags.quiet ? { ...flags, out: 'quiet' } : flags, config, log)
    if (flags.doc || fun === undefined) {
      const loader = openLoader('runners', { config, log })
      return showDocs(await matchingDocs(loader.view, fun), printer)
    }
    runAs(config.user)
    const { args, kwargs } = parseWords(words, flags['no-parse']?.split(','))
    const timeout = flags.timeout === undefined ? {} : { timeout: flags.timeout }
    return run(config, log, printer, { fun, args, kwargs: { ...timeout, ...kwargs } })
  }
}

interface Call {
  readonly fun: string
  readonly args: unknown[]
  readonly kwargs: Record<string, unknown>
}

/** Ctrl-C reaches the runner as its signal. */
async function run(
  config: MasterConfig,
  log: Logger,
  printer: Printer,
  { fun, args, kwargs }: Call,
): Promise<number> {
  const client = new RunnerClient({ config, log, user: currentUser() })
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  try {
    const {
      return: value,
      success,
      retcode,
      outputter,
    } = await client.run(fun, args, kwargs, interrupted.signal)
    if (!success && typeof value === 'string') tell(value)
    else if (value !== null) await printer.print(value, { outputter, retcode })
    return success ? exitCodes.ok : retcode || exitCodes.failed
  } finally {
    await client.close()
  }
}
