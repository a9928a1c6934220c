/** What a command has at hand before it does anything. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadMasterConfig, type MasterConfig, type MasterOptions } from '../config/index.ts'
import type { Logger } from '../log/index.ts'
import {
  type ConfigRemarks,
  type LogChoice,
  type LogConfig,
  openConsoleLog,
  tell,
  tellRemarks,
} from './console.ts'
import { type OutputFlags, openPrinter, type Printer } from './printer.ts'
import { isSupervised } from './supervised.ts'

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

/** What flags of all programs that print say of the configuration. */
export function outputOverrides(flags: OutputChoice) {
  return {
    ...(flags['state-output'] !== undefined && { state_output: flags['state-output'] }),
    ...(flags['state-verbose'] !== undefined && { state_verbose: flags['state-verbose'] }),
    ...(flags['output-diff'] && { state_output_diff: true }),
  }
}

/** Throws UsageError for an outputter that does not exist. */
export async function openTools<Config extends LogConfig & Readonly<Record<string, unknown>>>(
  program: string,
  flags: Flags,
  { config, ...remarks }: { readonly config: Config } & ConfigRemarks,
): Promise<Tools<Config>> {
  const log = await openConsoleLog(program, flags, config)
  if (isSupervised()) return { config, log, printer: await openPrinter(flags, config, log) } // who waits has told it
  const folder = flags['config-dir']
  if (folder !== undefined && !existsSync(folder))
    tell(`WARNING: The configuration directory ${resolve(folder)} does not exist; defaults are used.`)
  tellRemarks(log, flags, remarks)
  return { config, log, printer: await openPrinter(flags, config, log) }
}

/** Of a command on the master's host; `overrides` are what its flags say of the configuration. */
export function openMasterTools(
  program: string,
  flags: Flags,
  overrides: Partial<MasterOptions> = {},
): Promise<Tools<MasterConfig>> {
  const configDir = flags['config-dir']
  const settings = { ...(configDir && { configDir }), overrides: { ...outputOverrides(flags), ...overrides } }
  return openTools(program, flags, loadMasterConfig(settings))
}
