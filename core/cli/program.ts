/** Runs one command class as a process. */
import type { Command } from '@oclif/core/command'
import type { Config } from '@oclif/core/config'
import { messageOf } from '../base/errors.ts'
import { tell } from './console.ts'
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.ts'
import { isLaterFlag } from './later-flags.ts'
import { version, versionLine, versionsReport } from './version.ts'

/** A program: an oclif command whose `run` gives the exit code. */
export type Program = (new (
  argv: string[],
  config: Config,
) => Command & { run(): Promise<number> }) &
  Pick<typeof Command, 'id' | 'flags' | 'description' | 'examples' | 'usage'>

/** Run a program to its end and leave the process with its exit code. */
export async function runProgram(program: Program, argv = process.argv.slice(2)): Promise<never> {
  watchStandardStreams()
  const code = await outcomeOf(program, argv)
  const error = await new Promise<Error | null | undefined>((done) => process.stdout.write('', done))
  if (error) endOver(error)
  process.exit(code)
}

/**
 * Who reads the output may leave (`| head`): then there is nobody to tell, and every program ends as Unix tools do. This
 * comes before the listener of oclif, which throws.
 */
function watchStandardStreams(): void {
  process.stdout.prependListener('error', endOver)
  process.stderr.on('error', () => undefined)
}

function endOver(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  tell(`ERROR: Standard output cannot be written: ${messageOf(error)}`)
  process.exit(exitCodes.failed)
}

/** The exit code of a program run in this process. */
export async function outcomeOf(program: Program, argv: string[]): Promise<number> {
  const name = program.id as string
  try {
    const question = asksFor(argv)
    if (question === 'help') process.stdout.write(await help(program))
    if (question === 'version') process.stdout.write(`${versionLine(name)}\n`)
    if (question === 'versions') process.stdout.write(`${versionsReport()}\n`)
    if (question !== undefined) return exitCodes.ok
    return await new program(argv, configOf(name)).run()
  } catch (error) {
    report(name, error)
    return exitCodeOf(error)
  }
}

/** Questions about the program itself win over everything else that was typed. */
function asksFor(argv: readonly string[]): 'help' | 'version' | 'versions' | undefined {
  const end = argv.indexOf('--')
  const words = end < 0 ? argv : argv.slice(0, end)
  if (words.includes('-h') || words.includes('--help')) return 'help'
  if (words.includes('--version')) return 'version'
  return words.includes('-V') || words.includes('--versions-report') ? 'versions' : undefined
}

async function help(program: Program): Promise<string> {
  const { usageText } = await import('./help.ts')
  return usageText(program)
}

/**
 * What oclif wants to know of a program. Its own way, reading manifests and looking for plugins, takes longer than
 * the rest of a command, and there is nothing to find.
 */
function configOf(name: string): Config {
  const nothing = async () => ({ successes: [], failures: [] })
  const config = { bin: name, name, version: version(), pjson: { oclif: {} }, runHook: nothing }
  return config as unknown as Config
}

function report(name: string, error: unknown): void {
  const usage = UsageError.is(error)
  const [said = ''] = messageOf(error)
    .replace(/^Parsing --\S+ \n\t/, '')
    .split('\nSee more help')
  const unknown = /^Nonexistent flags?: (.*)$/.exec(said)?.[1]?.split(', ').find(isLaterFlag)
  const message = unknown ? `Salt's ${unknown} is not there yet; leave it out.` : said
  tell(usage ? `${name}: error: ${message}\nSee '${name} --help'.` : `ERROR: ${message}`)
}
