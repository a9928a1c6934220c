/** What a command has at hand before it does anything. */
import { loadMasterConfig, type MasterConfig, type MasterOptions } from '../config/index.ts'
import type { LogFormats, Logger } from '../log/index.ts'
import { type LogChoice, openConsoleLog, tellWarnings } from './console.ts'
import { type OutputFlags, openPrinter, type Printer } from './printer.ts'

export interface Tools<Config> {
  readonly config: Config
  readonly log: Logger
  readonly printer: Printer
}

type Flags = LogChoice & OutputFlags

/** Throws UsageError for an outputter that does not exist. */
export async function openTools<Config extends LogFormats & Readonly<Record<string, unknown>>>(
  program: string,
  flags: Flags,
  { config, warnings }: { readonly config: Config; readonly warnings: readonly string[] },
): Promise<Tools<Config>> {
  const log = await openConsoleLog(program, flags, config)
  tellWarnings(log, flags, warnings)
  return { config, log, printer: await openPrinter(flags, config, log) }
}

/** Of a command on the master's host; `overrides` are what its flags say of the configuration. */
export function openMasterTools(
  program: string,
  flags: Flags & { readonly 'config-dir'?: string | undefined },
  overrides: Partial<MasterOptions> = {},
): Promise<Tools<MasterConfig>> {
  const configDir = flags['config-dir']
  return openTools(program, flags, loadMasterConfig({ ...(configDir && { configDir }), overrides }))
}
