import path from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'

export class Pack extends AuthorCommand {
  static override description =
    'Make the npm package of a folder of extensions, without its tests and with types for call(), and print its path.'
  static override usage = 'pack [FOLDER] [--out DIR] [--fix]'
  static override usages: Usages = [
    [
      'pack [FOLDER] [--out DIR] [--fix]',
      'make the npm package with which minions get a folder of extensions',
    ],
  ]
  static override args = { folder }
  static override flags = {
    out: string({ description: 'Folder for the package (default: the current one).' }),
    fix: boolean({ description: 'Write to package.json what minions and npm need there.' }),
  }

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Pack)
    const { pack } = await import('../authoring/pack/pack.ts')
    const { tarball, notes } = await pack({
      folder: path.resolve(args.folder ?? '.'),
      out: path.resolve(flags.out ?? '.'),
      fix: flags.fix,
    })
    for (const note of notes) printNote(`Note: ${note}`)
    this.say(tarball)
    return exitCodes.ok
  }
}
