import { resolve } from 'node:path'
import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import { loadMinionConfig, type MinionConfig, type MinionOptions } from '../../config/index.ts'
import { openLoader } from '../../loader/index.ts'
import { typedWords } from '../../loader/typed.ts'
import { parseWords } from '../../loader/words.ts'
import { tell } from '../console.ts'
import { showDocs } from '../docs.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { functionFlags, number } from '../flags.ts'
import { matchingDocs } from '../loader-docs.ts'
import { openTools } from '../tools.ts'
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
    cachedir: string({ description: 'Folder for what is cached (config: cachedir).' }),
    'no-return-event': boolean({ description: 'Do not tell the master what was returned.' }),
    'module-dirs': string({
      char: 'm',
      multiple: true,
      multipleNonGreedy: true,
      description: 'Folder with more modules.',
    }),
    'file-root': string({
      description: 'Folder of the base environment, with file_client: local or --local.',
    }),
    grains: boolean({ char: 'g', description: 'Show the grains.' }),
    doc: boolean({ char: 'd', description: 'Show the documentation of the function, or of all.' }),
    'retcode-passthrough': boolean({ description: 'Exit with the code of the function.' }),
    metadata: boolean({ description: 'Print the whole return, with jid and retcode.' }),
    timeout: number({ char: 't', description: 'Seconds to wait for the master (config: auth_timeout).' }),
    watch: boolean({ description: 'Run it again whenever a file of the module folders is saved.' }),
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltCall)
    const typed = await wordsFrom(raw, flags['args-stdin'])
    const [fun, ...words] = flags.grains ? ['grains.items'] : typed
    const configDir = flags['config-dir']
    const { config, log, printer } = await openTools(
      'salt-call',
      flags,
      loadMinionConfig({ ...(configDir && { configDir }), overrides: overridesOf(flags) }),
    )
    if (flags.doc)
      return showDocs(await matchingDocs(openLoader('modules', { config, log }).view, fun), printer)
    if (fun === undefined) throw new UsageError('Say which function is to run.')
    if (flags.watch) return this.#watch(config)
    const { callFunction } = await import('../../minion/call.ts')
    const noParse = flags['no-parse']?.split(',')
    const { args, kwargs } = parseWords(words, noParse)
    const result = await callFunction({
      config,
      local: isLocal(flags, config),
      tellMaster: !flags['no-return-event'],
      fun,
      args,
      kwargs,
      words: typedWords(words, noParse),
      log,
    })
    const { failure, ...returned } = result
    const { return: value, retcode, success, out } = returned
    if (failure) {
      tell(String(value))
      return failure === 'missing' ? exitCodes.noFunction : exitCodes.failed
    }
    const shown = flags.metadata ? { ...returned, id: config.id, fun, fun_args: args } : value
    await printer.print({ local: shown }, { outputter: out, retcode: success ? 0 : retcode || 1 })
    if (flags['retcode-passthrough'] && retcode !== 0) return retcode
    return success && retcode === 0 ? exitCodes.ok : exitCodes.failed
  }

  /** The same command without --watch, again and again. */
  async #watch({ module_dirs }: MinionConfig): Promise<number> {
    if (module_dirs.length === 0) throw new UsageError('Say with -m in which folder to watch for changes.')
    const { packageOf, runOnChange } = await import('../run-on-change.ts')
    const end = this.argv.indexOf('--')
    const words = this.argv.filter((word, at) => word !== '--watch' || (end >= 0 && at > end))
    const folders = module_dirs.map((folder) => packageOf(resolve(folder)))
    return runOnChange([process.execPath, process.argv[1] as string, ...words], folders)
  }
}

interface Overrides {
  readonly master?: string | undefined
  readonly id?: string | undefined
  readonly cachedir?: string | undefined
  readonly 'module-dirs'?: string[] | undefined
  readonly 'file-root'?: string | undefined
  readonly timeout?: number | undefined
  readonly local?: boolean
}

function overridesOf(flags: Overrides): Partial<MinionOptions> {
  return {
    ...(flags.master !== undefined && { master: flags.master }),
    ...(flags.id !== undefined && { id: flags.id }),
    ...(flags.cachedir !== undefined && { cachedir: flags.cachedir }),
    ...(flags['module-dirs'] && { module_dirs: flags['module-dirs'] }),
    ...(flags['file-root'] !== undefined && { file_roots: { base: [resolve(flags['file-root'])] } }),
    ...(flags.timeout !== undefined && { auth_timeout: flags.timeout }),
  }
}

function isLocal(flags: Overrides, config: MinionConfig): boolean {
  return flags.local === true || (config as { file_client?: unknown }).file_client === 'local'
}
