import type { FlagInput, OutputArgs, OutputFlags, ParserOutput } from '@oclif/core/interfaces'
import { parse } from '@oclif/core/parser'
import { type Program, runProgram } from './program.ts'

type Flags = OutputFlags<FlagInput>
type Args = OutputArgs<Record<string, never>>

/**
 * A program: a description, from which help, man page and completion are generated, and `run`, which returns the exit
 * code.
 *
 * Flags and their parser are oclif's. Its `Command` and `Config`, which look for plugins, manifests and themes, are
 * used for `salt-ts` alone (`salt-ts/`): with them `salt '*' test.ping` takes 6 % more processor time up to its
 * request (117 instead of 110 ms, medians of 15 pairs of runs on two cores).
 */
export abstract class BaseProgram {
  static id: string
  static description: string
  static usage: string
  static examples: readonly string[] = []
  static flags: FlagInput = {}
  /** With false, words that belong to no flag are allowed. */
  static strict = true

  protected readonly argv: string[]

  constructor(argv: string[]) {
    this.argv = argv
  }

  /** Run the program as this process; `bin/start.cjs` calls it. */
  static start(this: Program): Promise<never> {
    // biome-ignore lint/complexity/noThisInStatic: the class that is started
    return runProgram(this)
  }

  abstract run(): Promise<number>

  /**
   * Parse the command line.
   * @throws an error of oclif's parser, which `UsageError.is` recognizes
   */
  protected parse<F extends Flags>(program: {
    readonly flags: FlagInput<F>
    readonly strict: boolean
  }): Promise<ParserOutput<F, Flags, Args>> {
    return parse<F, Flags, Args>(this.argv, { flags: program.flags, strict: program.strict })
  }
}
