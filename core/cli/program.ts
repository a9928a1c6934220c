/** Runs one command class as a process. */
import { messageOf, SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/file-problem.ts'
import type { BaseProgram } from './base-program.ts'
import { tell, whereKept } from './console.ts'
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.ts'
import { lastOfEach, optionWords, typedValue } from './typed-options.ts'
import { version } from './version.ts'

/** A class of programs. */
export type Program = (new (
  argv: string[],
) => BaseProgram) &
  Pick<typeof BaseProgram, 'id' | 'flags' | 'description' | 'examples' | 'usage'> & {
    /** The options that `--help` shows; all if it is not there. */
    readonly essential?: readonly string[]
    /** True of a program with commands, which have a help of their own. */
    readonly hasCommands?: boolean
  }

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
 * comes before the listener of oclif (of `salt-ts`), which throws.
 */
function watchStandardStreams(): void {
  process.stdout.prependListener('error', endOver)
  process.stderr.on('error', () => undefined)
}

function endOver(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  tell(`ERROR: Standard output cannot be written: ${fileProblem(error)}.${whereKept()}`)
  process.exit(exitCodes.noOutput)
}

/** The exit code of a program run in this process. */
export async function outcomeOf(program: Program, argv: string[]): Promise<number> {
  const answer = await answerTo(program, optionWords(argv))
  if (answer !== undefined) {
    process.stdout.write(answer)
    return exitCodes.ok
  }
  let end: { code: number; error?: unknown }
  try {
    end = { code: await run(program, argv) }
  } catch (error) {
    await report(program, error, argv)
    end = { code: exitCodeOf(error), error }
  }
  if (end.code === exitCodes.ok || end.code === exitCodes.interrupted) return end.code
  const { configuredExitCode } = await import('./legacy-exit-codes.ts')
  return configuredExitCode(program.id, typedValue(argv, 'config-dir', 'c'), end)
}

async function run(program: Program, typed: readonly string[]): Promise<number> {
  const { saltfileWords } = await import('./saltfile.ts')
  const argv = lastOfEach(program, [...(await saltfileWords(program, typed)), ...typed])
  const command = new program(argv)
  if (!program.flags?.['enable-profiling'] || !optionWords(argv).includes('--enable-profiling'))
    return command.run()
  const { profiled } = await import('./profile.ts')
  return profiled(program.id, typedValue(argv, 'profiling-path') ?? '/tmp/stats', () => command.run())
}

/** Questions about the program itself win over everything else that was typed. */
async function answerTo(program: Program, words: readonly string[]): Promise<string | undefined> {
  const asked = (...names: string[]) => names.some((name) => words.includes(name))
  if (asked('--help-all')) return (await import('./help.ts')).fullHelp(program)
  if (asked('-h', '--help') && !program.hasCommands) return (await import('./help.ts')).shortHelp(program)
  if (asked('--version')) return `${program.id} ${version()} (salt-ts)\n`
  if (asked('-V', '--versions-report')) return `${(await import('./versions-report.ts')).versionsReport()}\n`
  return undefined
}

const DAMAGED =
  'Another version of salt-ts is being installed here, or this one is damaged. Try again in a moment; if that does not help, ' +
  'install it again.'

const isMissingModule = (error: unknown): boolean =>
  ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(String((error as NodeJS.ErrnoException)?.code))

async function report(program: Program, error: unknown, argv: readonly string[]): Promise<void> {
  if (process.env.SALT_HARD_CRASH || optionWords(argv).includes('--hard-crash'))
    tell((await import('node:util')).inspect(error))
  if (isMissingModule(error)) return tell(`ERROR: ${messageOf(error).split('\n')[0]}. ${DAMAGED}`)
  const kept = SaltError.is(error) && error.code === 'OUTPUT_FAILED' ? whereKept() : ''
  if (!UsageError.is(error)) return tell(`ERROR: ${messageOf(error)}${kept}`)
  const { usageSentence } = await import('./usage-sentence.ts')
  tell(`${program.id}: error: ${usageSentence(program, error)}\nSee '${program.id} --help'.`)
}
