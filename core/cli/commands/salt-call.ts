import { resolve } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { loadMinionConfig, type MinionConfig, type MinionOptions } from '../../config/index.ts'
import { typedWords } from '../../loader/calls/typed.ts'
import { parseWords } from '../../loader/calls/words.ts'
import { openLoader } from '../../loader/index.ts'
import type { CallSettings, LocalCallResult } from '../../minion/call.ts'
import { exitCodeOfRetcode, exitCodes, UsageError } from '../exit-codes.ts'
import {
  diffFlag,
  docFlag,
  executorFlags,
  functionFlags,
  moduleDirsFlag,
  number,
  profilingFlags,
} from '../flags.ts'
import { printNote } from '../output/console.ts'
import { matchingDocs, showDocs } from '../output/docs.ts'
import type { Printer } from '../output/printer.ts'
import { stdoutToStderr } from '../output/stdout-to-stderr.ts'
import { BaseProgram } from '../program/base-program.ts'
import { positionalWords } from '../program/positional-words.ts'
import { yamlList, yamlMap } from '../program/yaml-options.ts'
import { type OutputChoice, openTools, outputOverrides } from '../tools.ts'

export default class SaltCall extends BaseProgram {
  static override id = 'salt-call'
  static override strict = false
  static override description = 'Run a function on this host, as its minion would.'
  static override usage = 'salt-call [options] <function> [arguments]'
  static override examples = ['salt-call --local test.ping', "salt-call cmd.run 'uname -a' --out json"]
  static readonly runsFunction = true
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
    local: boolean({ description: 'Do not connect to a master.' }),
    master: string({ description: 'Address of the master.' }),
    id: string({ description: 'Id of this minion.' }),
    cachedir: string({ description: 'Folder for cached data (config: cachedir).' }),
    'no-return-event': boolean({ description: 'Do not send the return to the master.' }),
    'module-dirs': moduleDirsFlag('Additional folder of modules.'),
    'file-root': string({
      description: 'Folder of the base environment. Needs --local or file_client: local.',
    }),
    grains: boolean({ char: 'g', description: 'Show the grains of this host.' }),
    doc: docFlag('Show the documentation of one function, or of all functions.'),
    'retcode-passthrough': boolean({ description: 'Exit with the return code of the function.' }),
    metadata: boolean({ description: 'Print the complete return, with jid and retcode.' }),
    timeout: number({ char: 't', description: 'Seconds to wait for the master (config: auth_timeout).' }),
    watch: boolean({
      description: 'Run the function again whenever a file that it imports from the module folders is saved.',
    }),
    'set-metadata': string({ description: 'Metadata to send with the return, as a YAML map.' }),
    'skip-grains': boolean({
      description: 'Do not collect grains; only those of the configuration are set.',
    }),
    'refresh-grains-cache': boolean({ description: 'No effect: grains are collected each time.' }),
    'pillar-root': string({ description: 'Folder of the pillar. No effect yet.' }),
    'states-dir': string({ description: 'Additional folder of states. No effect yet.' }),
    return: string({ description: 'Returners that also get the return, separated by commas.' }),
    proxyid: string({ description: 'Not supported: there are no proxy minions.' }),
    ...executorFlags,
    ...profilingFlags,
    ...diffFlag,
    ...functionFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltCall)
    refuseUnsupported(flags)
    const typed = await positionalWords(raw, flags['args-stdin'])
    const [fun, ...words] = flags.grains ? ['grains.items'] : typed
    const configDir = flags['config-dir']
    const { config, log, printer } = await openTools(
      'salt-call',
      flags,
      loadMinionConfig({ ...(configDir && { configDir }), overrides: overridesOf(flags) }),
    )
    if (flags.doc)
      return showDocs(
        await stdoutToStderr(() => matchingDocs(openLoader('modules', { config, log }).view, fun)),
        printer,
      )
    if (fun === undefined) throw new UsageError('Name the function to run.')
    if (flags.watch) return this.#watch(config)
    const { callFunction } = await import('../../minion/call.ts')
    const call = { ...callSettings(flags, config, words), fun, log }
    const result = await stdoutToStderr(() => callFunction(call))
    return printResult(result, call, flags, printer)
  }

  /** Run the same command without --watch, again and again. */
  async #watch({ module_dirs }: MinionConfig): Promise<number> {
    if (module_dirs.length === 0) throw new UsageError('Name the folder to watch with -m.')
    const { packageOf, runOnChange } = await import('../watch/run-on-change.ts')
    const end = this.argv.indexOf('--')
    const words = this.argv.filter((word, at) => word !== '--watch' || (end >= 0 && at > end))
    const folders = module_dirs.map((folder) => packageOf(resolve(folder)))
    return runOnChange([process.execPath, process.argv[1] as string, ...words], folders)
  }
}

type CallFlags = InferredFlags<typeof SaltCall.flags>

/** Return the settings of a call that the flags and the words after the function make. */
function callSettings(flags: CallFlags, config: MinionConfig, words: string[]) {
  const noParse = flags['no-parse']?.split(',')
  return {
    config,
    local: isLocal(flags, config),
    returnToMaster: !flags['no-return-event'],
    skipGrains: flags['skip-grains'],
    metadata: yamlMap('set-metadata', flags['set-metadata']),
    ...parseWords(words, noParse),
    words: typedWords(words, noParse),
    moduleExecutors: yamlList('module-executors', flags['module-executors']),
    executorOpts: yamlMap('executor-opts', flags['executor-opts']),
    returners: flags.return,
  }
}

/** Print the result of a function and return the exit code. */
async function printResult(
  { failure, notStored, ...returned }: LocalCallResult,
  { config, fun, args, metadata }: CallSettings,
  flags: CallFlags,
  printer: Printer,
): Promise<number> {
  for (const sentence of notStored) printNote(`WARNING: ${sentence}`)
  const { return: value, retcode, success, out } = returned
  if (failure) {
    printNote(String(value).replace(/^ERROR: /, () => `Error running '${fun}': `)) // in the words of Salt's salt-call
    return failure === 'missing' ? exitCodes.noFunction : exitCodes.failed
  }
  const about = { ...returned, id: config.id, fun, fun_args: args, ...(metadata && { metadata }) }
  const shown = flags.metadata ? about : value
  await printer.print({ local: shown }, { outputter: out, retcode: success ? 0 : retcode || 1 })
  if (flags['retcode-passthrough'] && retcode !== 0) return exitCodeOfRetcode(retcode)
  return success && retcode === 0 ? exitCodes.ok : exitCodes.failed
}

interface UnsupportedFlags {
  readonly proxyid?: string | undefined
  readonly 'pillar-root'?: string | undefined
  readonly 'states-dir'?: string | undefined
}

/** Refuse or warn about options of Salt that are not supported. */
function refuseUnsupported(flags: UnsupportedFlags): void {
  if (flags.proxyid !== undefined) throw new UsageError('There are no proxy minions; leave out --proxyid.')
  for (const name of ['pillar-root', 'states-dir'] as const)
    if (flags[name] !== undefined) printNote(`WARNING: --${name} has no effect yet.`)
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
