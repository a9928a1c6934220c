import path from 'node:path'
import { string as word } from '@oclif/core/args'
import { packageRoot } from '../../process/own-package.ts'
import { shells } from '../completion/scripts.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { programNames } from '../program/program-names.ts'
import { AuthorCommand, type Usages } from './author-command.ts'

export class Completion extends AuthorCommand {
  static override description =
    'Print a script that completes all programs in a shell: eval "$(salt-ts completion bash)"'
  static override usage = 'completion bash|zsh|fish'
  static override usages: Usages = [
    [
      'completion bash|zsh|fish',
      'print a script that completes all programs in that shell: eval "$(salt-ts completion bash)"',
    ],
  ]
  static override args = { shell: word({ description: `One of ${Object.keys(shells).join(', ')}.` }) }

  override async run(): Promise<number> {
    const { args } = await this.parse(Completion)
    const script = shells[args.shell ?? '']
    if (!script) throw new UsageError(`Name a shell: ${Object.keys(shells).join(', ')}.`)
    this.say(script(programNames(), path.join(packageRoot, 'bin', 'complete.sh')).trimEnd())
    return exitCodes.ok
  }
}
