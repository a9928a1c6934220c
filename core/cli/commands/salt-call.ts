import { resolve } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { loadMinionConfig, type MinionConfig, type MinionOptions } from '../../config/index.ts'
import { openLoader } from '../../loader/index.ts'
import { typedWords } from '../../loader/typed.ts'
import { parseWords } from '../../loader/words.ts'
import { BaseProgram } from '../base-program.ts'
import { tell } from '../console.ts'
import { showDocs } from '../docs.ts'
import { exitCodes, passedThrough, UsageError } from '../exit-codes.ts'
import {
  diffFlag,
  docFlag,
  executorFlags,
  functionFlags,
  moduleDirsFlag,
  number,
  profilingFlags,
} from '../flags.ts'
import { matchingDocs } from '../loader-docs.ts'
import { outputAside } from '../output-aside.ts'
import { type OutputChoice, openTools, outputOverrides } from '../tools.ts'
import { wordsFrom } from '../words-stdin.ts'
import { yamlList, yamlMap } from '../yaml-words.ts'

export default class SaltCall extends BaseProgram {
  static override id = 'salt-call'
  static override strict = false
  static override description = 'Run a function on this host, as its minion would.'
  static override usage = 'salt-call [options] <function> [arguments]'
  static override examples = ['salt-call --local test.ping', "salt-call cmd.run 'uname -a' --out json"]
  static readonly essential = [
    'local',
    'master',
    'module-dirs',
    'watch',
    'grains',
    'doc',
    'retcode-passthrough',
    'metadata',
    'out',
    'log-level',
    'config-dir',
  ]
  static override flags = {
    local: boolean({ description: 'Do not speak to a master.' }),
    master: string({ description: 'Address of the master.' }),
    id: string({ description: 'Id of this minion.' }),
    cachedir: string({ description: 'Folder for what is cached (config: cachedir).' }),
    'no-return-event': boolean({ description: 'Do not tell the master what was returned.' }),
    'module-dirs': moduleDirsFlag('Folder with more modules.'),
    'file-root': string({
      description: 'Folder of the base environment, with file_client: local or --local.',
    }),
    grains: boolean({ char: 'g', description: 'Show the grains of this host.' }),
    doc: docFlag('Show the documentation of the function, or of all.'),
    'retcode-passthrough': boolean({ description: 'Exit with the code of the function.' }),
    metadata: boolean({ description: 'Print the whole return, with jid and retcode.' }),
    timeout: number({ char: 't', description: 'Seconds to wait for the master (config: auth_timeout).' }),
    watch: boolean({
      description: 'Run it again whenever a file it imports from the module folders is saved.',
    }),
    'set-metadata': string({ description: 'Map that goes with the return.' }),
    'skip-grains': boolean({ description: 'Collect no grains; those of the configuration are there.' }),
    'refresh-grains-cache': boolean({ description: 'Does nothing: grains are collected each time.' }),
    'pillar-root': string({ description: 'Folder of the pillar; has no effect yet.' }),
    'states-dir': string({ description: 'Folder with more states; has no effect yet.' }),
    return: string({ description: 'Returners that get the return, too, with commas.' }),
    proxyid: string({ description: 'There are no proxy minions.' }),
    ...executorFlags,
    ...profilingFlags,
    ...diffFlag,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltCall)
    refuseWhatIsNotThere(flags)
    const typed = await wordsFrom(raw, flags['args-stdin'])
    const [fun, ...words] = flags.grains ? ['grains.items'] : typed
    const configDir = flags['config-dir']
    const { config, log, printer } = await openTools(
      'salt-call',
      flags,
      loadMinionConfig({ ...(configDir && { configDir }), overrides: overridesOf(flags) }),
    )
    if (flags.doc)
      return showDocs(
        await outputAside(() => matchingDocs(openLoader('modules', { config, log }).view, fun)),
        printer,
      )
    if (fun === undefined) throw new UsageError('Say which function is to run.')
    if (flags.watch) return this.#watch(config)
    const { callFunction } = await import('../../minion/call.ts')
    const noParse = flags['no-parse']?.split(',')
    const { args, kwargs } = parseWords(words, noParse)
    const call = {
      config,
      local: isLocal(flags, config),
      tellMaster: !flags['no-return-event'],
      skipGrains: flags['skip-grains'],
      metadata: yamlMap('set-metadata', flags['set-metadata']),
      fun,
      args,
      kwargs,
      words: typedWords(words, noParse),
      moduleExecutors: yamlList('module-executors', flags['module-executors']),
      executorOpts: yamlMap('executor-opts', flags['executor-opts']),
      returners: flags.return,
      log,
    }
    const result = await outputAside(() => callFunction(call))
    const { failure, notStored, ...returned } = result
    for (const sentence of notStored) tell(`WARNING: ${sentence}`)
    const { return: value, retcode, success, out } = returned
    if (failure) {
      tell(String(value))
      return failure === 'missing' ? exitCodes.noFunction : exitCodes.failed
    }
    const metadata = yamlMap('set-metadata', flags['set-metadata'])
    const about = { ...returned, id: config.id, fun, fun_args: args, ...(metadata && { metadata }) }
    const shown = flags.metadata ? about : value
    await printer.print({ local: shown }, { outputter: out, retcode: success ? 0 : retcode || 1 })
    if (flags['retcode-passthrough'] && retcode !== 0) return passedThrough(retcode)
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

interface Missing {
  readonly proxyid?: string | undefined
  readonly 'pillar-root'?: string | undefined
  readonly 'states-dir'?: string | undefined
}

/** Options of Salt that mean something which does not exist here. */
function refuseWhatIsNotThere(flags: Missing): void {
  if (flags.proxyid !== undefined) throw new UsageError('There are no proxy minions; leave out --proxyid.')
  for (const name of ['pillar-root', 'states-dir'] as const)
    if (flags[name] !== undefined) tell(`WARNING: --${name} has no effect yet.`)
}

interface Overrides extends OutputChoice {
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
    ...outputOverrides(flags),
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
