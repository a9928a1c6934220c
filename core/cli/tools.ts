/** Opens what every command needs: configuration, log, printer. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadMasterConfig, type MasterConfig, type MasterOptions } from '../config/index.ts'
import type { Logger } from '../log/index.ts'
import {
  type ConfigRemarks,
  type LogChoice,
  type LogConfig,
  openConsoleLog,
  printConfigRemarks,
  printNote,
} from './output/console.ts'
import { type OutputFlags, openPrinter, type Printer } from './output/printer.ts'
import { isSupervised } from './program/supervised.ts'

export interface Tools<Config> {
  readonly config: Config
  readonly log: Logger
  readonly printer: Printer
}

export interface OutputChoice {
  readonly 'state-output'?: MasterConfig['state_output'] | undefined
  readonly 'state-verbose'?: boolean | undefined
  readonly 'output-diff'?: boolean
}

type Flags = LogChoice & OutputFlags & OutputChoice & { readonly 'config-dir'?: string | undefined }

/** Return the options that the output flags set. */
export function outputOverrides(flags: OutputChoice) {
  return {
    ...(flags['state-output'] !== undefined && { state_output: flags['state-output'] }),
    ...(flags['state-verbose'] !== undefined && { state_verbose: flags['state-verbose'] }),
    ...(flags['output-diff'] && { state_output_diff: true }),
  }
}

/**
 * Open log and printer, and print remarks on the configuration.
 * @throws UsageError for an unknown outputter
 */
export async function openTools<Config extends LogConfig & Readonly<Record<string, unknown>>>(
  program: string,
  flags: Flags,
  { config, ...remarks }: { readonly config: Config } & ConfigRemarks,
): Promise<Tools<Config>> {
  const log = await openConsoleLog(program, flags, config)
  if (isSupervised()) return { config, log, printer: await openPrinter(flags, config, log) } // the parent process has printed the remarks
  const folder = flags['config-dir']
  if (folder !== undefined && !existsSync(folder))
    printNote(`WARNING: The configuration directory ${resolve(folder)} does not exist; defaults are used.`)
  printConfigRemarks(log, flags, remarks)
  return { config, log, printer: await openPrinter(flags, config, log) }
}

/** Open the tools of a command on the host of the master. `overrides` are options that its flags set. */
export function openMasterTools(
  program: string,
  flags: Flags,
  overrides: Partial<MasterOptions> = {},
): Promise<Tools<MasterConfig>> {
  const configDir = flags['config-dir']
  const settings = { ...(configDir && { configDir }), overrides: { ...outputOverrides(flags), ...overrides } }
  return openTools(program, flags, loadMasterConfig(settings))
}
