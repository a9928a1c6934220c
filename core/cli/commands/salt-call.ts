import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import { loadMinionConfig, type MinionConfig, type MinionOptions } from '../../config/index.ts'
import { openLoader } from '../../loader/index.ts'
import { parseWords } from '../../loader/words.ts'
import { openConsoleLog, tellWarnings } from '../console.ts'
import { showDocs } from '../docs.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { argumentFlags, configFlags, helpFlags, logFlags, number, outputFlags } from '../flags.ts'
import { matchingDocs } from '../loader-docs.ts'
import { openPrinter } from '../printer.ts'
import { wordsFrom } from '../words-stdin.ts'

export default class SaltCall extends Command {
  static override id = 'salt-call'
  static override strict = false
  static override description = 'Run a function on this host, as its minion would.'
  static override usage = 'salt-call [options] <function> [arguments]'
  static override examples = ['salt-call --local test.ping', "salt-call cmd.run 'uname -a' --out json"]
  static override flags = {
    local: boolean({ description: 'Do not speak to a master.' }),
    master: string({ description: 'Address of the master.' }),
    id: string({ description: 'Id of this minion.' }),
    'module-dirs': string({
      char: 'm',
      multiple: true,
      multipleNonGreedy: true,
      description: 'Folder with more modules.',
    }),
    grains: boolean({ char: 'g', description: 'Show the grains.' }),
    doc: boolean({ char: 'd', description: 'Show the documentation of the function, or of all.' }),
    'retcode-passthrough': boolean({ description: 'Exit with the code of the function.' }),
    metadata: boolean({ description: 'Print the whole return, with jid and retcode.' }),
    timeout: number({ char: 't', description: 'Seconds to wait for the master (config: auth_timeout).' }),
    ...argumentFlags,
    ...outputFlags,
    ...logFlags,
    ...configFlags,
    ...helpFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltCall)
    const typed = await wordsFrom(raw, flags['args-stdin'])
    const [fun, ...words] = flags.grains ? ['grains.items'] : typed
    const { config, warnings } = loadMinionConfig({
      ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
      overrides: overridesOf(flags),
    })
    const log = await openConsoleLog('salt-call', flags, config)
    tellWarnings(log, flags, warnings)
    const printer = await openPrinter(flags, config, log)
    if (flags.doc)
      return showDocs(await matchingDocs(openLoader('modules', { config, log }).view, fun), printer)
    if (fun === undefined) throw new UsageError('Say which function is to run.')
    const { callFunction } = await import('../../minion/call.ts')
    const { args, kwargs } = parseWords(words, flags['no-parse']?.split(','))
    const result = await callFunction({ config, local: isLocal(flags, config), fun, args, kwargs, log })
    const { return: value, retcode, success, out } = result
    const shown = flags.metadata ? { ...result, id: config.id, fun, fun_args: args } : value
    await printer.print({ local: shown }, { outputter: out, retcode: success ? 0 : retcode || 1 })
    if (flags['retcode-passthrough'] && retcode !== 0) return retcode
    return success && retcode === 0 ? exitCodes.ok : exitCodes.failed
  }
}

interface Overrides {
  readonly master?: string | undefined
  readonly id?: string | undefined
  readonly 'module-dirs'?: string[] | undefined
  readonly timeout?: number | undefined
  readonly local?: boolean
}

function overridesOf(flags: Overrides): Partial<MinionOptions> {
  return {
    ...(flags.master !== undefined && { master: flags.master }),
    ...(flags.id !== undefined && { id: flags.id }),
    ...(flags['module-dirs'] && { module_dirs: flags['module-dirs'] }),
    ...(flags.timeout !== undefined && { auth_timeout: flags.timeout }),
  }
}

function isLocal(flags: Overrides, config: MinionConfig): boolean {
  return flags.local === true || (config as { file_client?: unknown }).file_client === 'local'
}
