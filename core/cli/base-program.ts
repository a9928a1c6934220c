import type { FlagInput, OutputArgs, OutputFlags, ParserOutput } from '@oclif/core/interfaces'
import { parse } from '@oclif/core/parser'

type Flags = OutputFlags<FlagInput>
type Args = OutputArgs<Record<string, never>>

/**
 * What a program is: facts that help, man page and completion are made of, and `run`, which gives the exit code.
 *
 * Flags and their parser are oclif's. Its `Command` and `Config`, which look for plugins, manifests and themes, are for
 * `salt-ts` alone (`salt-ts/`): with them `salt '*' test.ping` takes 6 % more processor time up to its request (117 instead
 * of 110 ms, medians of 15 pairs of runs on two cores).
 */
export abstract class BaseProgram {
  static id: string
  static description: string
  static usage: string
  static examples: readonly string[] = []
  static flags: FlagInput = {}
  /** False: words that belong to no flag are welcome. */
  static strict = true

  protected readonly argv: string[]

  constructor(argv: string[]) {
    this.argv = argv
  }

  abstract run(): Promise<number>

  /** @throws an error of oclif's parser, which `UsageError.is` knows. */
  protected parse<F extends Flags>(program: {
    readonly flags: FlagInput<F>
    readonly strict: boolean
  }): Promise<ParserOutput<F, Flags, Args>> {
    return parse<F, Flags, Args>(this.argv, { flags: program.flags, strict: program.strict })
  }
}
