import path from 'node:path'
import { string as word } from '@oclif/core/args'
import { string } from '@oclif/core/flags'
import { templateWords } from '../authoring/templates/index.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { AuthorCommand, type Usages } from './author-command.ts'

export class Create extends AuthorCommand {
  static override description =
    'Create an extension: a file, a test, the TypeScript settings and a workflow for GitHub.'
  static override usage = 'create KIND NAME [--dir DIR]'
  static override usages: Usages = [
    [
      'create KIND NAME [--dir DIR]',
      `create an extension, its test, TypeScript settings and a workflow for GitHub; KIND is ${templateWords.join(', ')}`,
    ],
  ]
  static override args = {
    kind: word({ description: `Kind of extension: ${templateWords.join(', ')}.` }),
    name: word({ description: 'Name of the extension.' }),
  }
  static override flags = {
    dir: string({ description: 'Folder for the extension (default: the current one).' }),
  }

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Create)
    const { kind, name } = args
    if (kind === undefined || name === undefined)
      throw new UsageError('Name a kind and a name: salt-ts create module hello')
    const { create } = await import('../authoring/create.ts')
    this.say(await create({ kind, name, directory: path.resolve(flags.dir ?? '.') }))
    return exitCodes.ok
  }
}
