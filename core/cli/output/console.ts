/** Log and notes of a command line program. The log is loaded only if a flag asks for it. */
import { screened } from '../../base/screened.ts'
import type { LogFormats, Logger } from '../../log/index.ts'

export interface LogChoice {
  readonly 'log-level'?: string | undefined
  readonly 'log-file'?: string | undefined
  readonly 'log-file-level'?: string | undefined
}

export interface LogConfig extends LogFormats {
  readonly log_file: string
  /** Log file of salt-key. */
  readonly key_logfile?: string
}

/**
 * Open the log. Warnings go to standard error without asking, everything else with `-l`. A file is written if one of
 * its flags is given.
 */
export async function openConsoleLog(program: string, flags: LogChoice, config: LogConfig): Promise<Logger> {
  const { createLogger } = await import('../../log/index.ts')
  const level = flags['log-level'] ?? 'warning'
  const configured = (program === 'salt-key' && config.key_logfile) || config.log_file
  const file = flags['log-file'] ?? (flags['log-file-level'] === undefined ? undefined : configured)
  return createLogger({
    program,
    console: { level },
    ...(file !== undefined && { file: { path: file, level: flags['log-file-level'] ?? level } }),
    formats: config,
  })
}

const liveLines = new Set<() => void>()

/** Call `erase` before anything is written, until the returned function is called. */
export function registerLiveLine(erase: () => void): () => void {
  liveLines.add(erase)
  return () => liveLines.delete(erase)
}

/** Erase live lines, since something else is written now. */
export function hideLiveLine(): void {
  for (const erase of liveLines) erase()
}

/** Write everything that is printed in this turn of the event loop at once. */
export function corkOutput(): void {
  const { stdout } = process
  if (stdout.writableCorked > 0) return
  stdout.cork()
  setImmediate(() => stdout.uncork())
}

/** Print a line for people to standard error, after what was printed to standard output before. */
export function printNote(message: string): void {
  hideLiveLine()
  process.stdout.uncork()
  process.stderr.write(`${process.stderr.isTTY ? screened(message) : message}\n`)
}

let hint = ''

/** Set a sentence that says how to get the output if it cannot be printed. */
export function setRecoveryHint(sentence: string): void {
  hint = ` ${sentence}`
}

/** Return that sentence, to append it to the error. */
export const recoveryHint = (): string => hint

export interface ConfigRemarks {
  readonly warnings: readonly string[]
  /** Warnings about options that are most likely misspelt. */
  readonly misspelt: readonly string[]
  /** Lines about the files the configuration was read from. */
  readonly read: readonly string[]
}

/** Print all remarks if a log level was given, otherwise only those about misspelt options. Daemons log all of them. */
export function printConfigRemarks(
  log: Logger,
  flags: LogChoice,
  { warnings, misspelt, read }: ConfigRemarks,
): void {
  logRead(log, read)
  if (flags['log-level'] !== undefined) for (const warning of warnings) log.warn(warning)
  else for (const warning of misspelt) printNote(`WARNING: ${warning}`)
}

/** Log which files a configuration was read from. */
export function logRead(log: Logger, read: readonly string[]): void {
  const details = log.child('config')
  for (const line of read) details.debug(line)
}
