/** Runs a program class as a process. */
import { inspect } from 'node:util'
import { messageOf, SaltError } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { exitCodeOf, exitCodes, UsageError } from '../exit-codes.ts'
import { printNote, recoveryHint } from '../output/console.ts'
import type { BaseProgram } from './base-program.ts'
import { optionWords, plainWords, typedValue, withoutRepeatedOptions } from './typed-options.ts'
import { version } from './version.ts'

/** A class of programs. */
export type Program = (new (
  argv: string[],
) => BaseProgram) &
  Pick<typeof BaseProgram, 'id' | 'flags' | 'description' | 'examples' | 'usage'> & {
    /** The options that `--help` shows; undefined: all. */
    readonly essential?: readonly string[]
    /** The program runs the function that is named first, and documents it with `--doc`. */
    readonly runsFunction?: boolean
    /** The program has commands, which have their own help. */
    readonly hasCommands?: boolean
  }

/** Run a program to its end and exit with its exit code. */
export async function runProgram(program: Program, argv = process.argv.slice(2)): Promise<never> {
  watchStandardStreams()
  watchForNothingLeft(program)
  const code = await exitCodeFrom(program, argv)
  const error = await new Promise<Error | null | undefined>((done) => process.stdout.write('', done))
  if (error) exitOnOutputError(error)
  process.exit(code)
}

/**
 * Exit with an error if nothing is left to do although the program has not ended: Node would exit with 0, as if it had. The first
 * time, a function that waits so fails (`runGuarded`), and the program goes on.
 */
function watchForNothingLeft({ id }: Program): void {
  process.once('beforeExit', () => {
    setImmediate(() => undefined)
    process.once('beforeExit', () => {
      printNote(
        `ERROR: ${id} cannot go on: it waits for a promise that nothing in its process will ever resolve or reject.`,
      )
      process.exit(exitCodes.failed)
    })
  })
}

/**
 * Exit like Unix tools if the reader of the output closes the pipe (`| head`). This listener comes before that of
 * oclif (of `salt-ts`), which throws.
 */
function watchStandardStreams(): void {
  process.stdout.prependListener('error', exitOnOutputError)
  process.stderr.on('error', () => undefined)
}

function exitOnOutputError(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  printNote(`ERROR: Standard output cannot be written: ${fileProblem(error)}.${recoveryHint()}`)
  process.exit(exitCodes.noOutput)
}

/** Run a program in this process and return its exit code. */
export async function exitCodeFrom(program: Program, typed: string[]): Promise<number> {
  const argv = asksAboutFunction(program, typed) ? asDoc(typed) : typed
  const answer = await informationOf(program, optionWords(argv))
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
  const argv = withoutRepeatedOptions(program, [...(await saltfileWords(program, typed)), ...typed])
  const command = new program(argv)
  if (!program.flags?.['enable-profiling'] || !optionWords(argv).includes('--enable-profiling'))
    return command.run()
  const { profiled } = await import('./profile.ts')
  return profiled(program.id, typedValue(argv, 'profiling-path') ?? '/tmp/stats', () => command.run())
}

/** Return the text of `--help`, `--version` and the like, which win over everything else on the command line. */
async function informationOf(program: Program, words: readonly string[]): Promise<string | undefined> {
  const asked = (...names: string[]) => names.some((name) => words.includes(name))
  if (asked('--help-all')) return (await import('./help.ts')).fullHelp(program)
  if (asked('-h', '--help') && !program.hasCommands) return (await import('./help.ts')).shortHelp(program)
  if (asked('--version')) return `${program.id} ${version()} (salt-ts)\n`
  if (asked('-V', '--versions-report')) return `${(await import('./versions-report.ts')).versionsReport()}\n`
  return undefined
}

const isHelp = (word: string) => word === '--help' || word === '-h'

/** Whether help is asked for after the name of a function: `salt-run jobs.active --help`. */
function asksAboutFunction(program: Program, argv: readonly string[]): boolean {
  if (!program.runsFunction || !optionWords(argv).some(isHelp)) return false
  const [first, second] = plainWords(program, argv)
  return /^\w+\.\w+$/.test((first === 'wheel' ? second : first) ?? '')
}

/** Return the command line that asks for the documentation of the function instead. */
function asDoc(argv: readonly string[]): string[] {
  const options = optionWords(argv)
  return ['--doc', ...options.filter((word) => !isHelp(word)), ...argv.slice(options.length)]
}

const DAMAGED_SENTENCE =
  'Another version of salt-ts is being installed here, or this one is damaged. Try again in a moment; if that does not help, ' +
  'install it again.'

const isMissingModule = (error: unknown): boolean =>
  ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(String((error as NodeJS.ErrnoException)?.code))

async function report(program: Program, error: unknown, argv: readonly string[]): Promise<void> {
  if (process.env.SALT_HARD_CRASH || optionWords(argv).includes('--hard-crash')) printNote(inspect(error))
  if (isMissingModule(error))
    return printNote(`ERROR: ${messageOf(error).split('\n')[0]}. ${DAMAGED_SENTENCE}`)
  const kept = SaltError.is(error) && error.code === 'OUTPUT_FAILED' ? recoveryHint() : ''
  if (!UsageError.is(error)) return printNote(`ERROR: ${messageOf(error)}${kept}`)
  const { usageSentence } = await import('./usage-sentence.ts')
  printNote(`${program.id}: error: ${usageSentence(program, error)}\nSee '${program.id} --help'.`)
}
