/** The log of a command line program: nothing is written, and nothing loaded, unless somebody asked for it. */
import type { LogFormats, Logger } from '../log/index.ts'

export interface LogChoice {
  readonly 'log-level'?: string | undefined
  readonly 'log-file'?: string | undefined
  readonly 'log-file-level'?: string | undefined
}

export interface LogConfig extends LogFormats {
  readonly log_file: string
  /** That of salt-key. */
  readonly key_logfile?: string
}

/** Warnings are shown without asking, everything else with `-l`. A file is written to if one of its flags is there. */
export async function openConsoleLog(program: string, flags: LogChoice, config: LogConfig): Promise<Logger> {
  const { createLogger } = await import('../log/index.ts')
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

const aside = new Set<() => void>()

/** `step` is called before anything is written, until what this gives is called. */
export function standsAside(step: () => void): () => void {
  aside.add(step)
  return () => aside.delete(step)
}

/** Something is written now: what is only there for the moment goes. */
export function makeRoom(): void {
  for (const step of aside) step()
}

/** What is printed from now on in this turn of the event loop goes out in one write. */
export function gatherOutput(): void {
  const { stdout } = process
  if (stdout.writableCorked > 0) return
  stdout.cork()
  setImmediate(() => stdout.uncork())
}

/** A line for people, beside the data: what was printed before it comes before it. */
export function tell(message: string): void {
  makeRoom()
  process.stdout.uncork()
  process.stderr.write(`${message}\n`)
}

let kept = ''

/** From now on, what is printed can be had in another way as well: a sentence. */
export function keptElsewhere(sentence: string): void {
  kept = ` ${sentence}`
}

/** To be told where something could not be printed. */
export const whereKept = (): string => kept

export interface ConfigRemarks {
  readonly warnings: readonly string[]
  /** Those of them about options that were most likely misspelt. */
  readonly misspelt: readonly string[]
  /** Which files it was read from. */
  readonly read: readonly string[]
}

/** All of them to those who asked for a log, misspelt options to everybody; the daemons log all in any case. */
export function tellRemarks(
  log: Logger,
  flags: LogChoice,
  { warnings, misspelt, read }: ConfigRemarks,
): void {
  logRead(log, read)
  if (flags['log-level'] !== undefined) for (const warning of warnings) log.warn(warning)
  else for (const warning of misspelt) tell(`WARNING: ${warning}`)
}

/** Log which files a configuration was read from. */
export function logRead(log: Logger, read: readonly string[]): void {
  const details = log.child('config')
  for (const line of read) details.debug(line)
}
