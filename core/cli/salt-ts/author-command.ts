import { Command } from '@oclif/core/command'
import { helpFlags } from '../flags.ts'

/** Ways to use a command, after the name of the program, and what each does. */
export type Usages = readonly (readonly [words: string, does: string])[]

/**
 * A command of `salt-ts`. Each imports what it does when it runs: together that is more files than a program may have open that
 * is started with `ulimit -n 64`.
 */
export abstract class AuthorCommand extends Command {
  static readonly usages: Usages = []
  static override baseFlags = { 'hard-crash': helpFlags['hard-crash'] }

  /** Print a result to standard output. */
  protected say(text: string): void {
    process.stdout.write(`${text}\n`)
  }
}
