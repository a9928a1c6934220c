import path from 'node:path'
import { string } from '@oclif/core/flags'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'
import { fromMasterFlags, refuseConfigDir } from './from-master-flags.ts'

export class Docs extends AuthorCommand {
  static override description =
    'Write web pages about the functions of a folder of extensions, or with --from-master about those that minions have reported. They need no server, and have a search.'
  static override usages: Usages = [
    ['docs [FOLDER] [--out DIR]', 'write web pages about the functions of a folder of extensions'],
    [
      'docs --from-master [-c DIR] [--out DIR]',
      'write web pages about the functions that minions have reported to the master of this host',
    ],
  ]
  static override args = { folder }
  static override flags = {
    ...fromMasterFlags,
    out: string({ description: 'Folder of the pages (default: site).' }),
  }

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Docs)
    const out = path.resolve(flags.out ?? 'site')
    const { writeFleetDocs, writeFolderDocs } = await import('../docs-site/write-docs.ts')
    const configDir = flags['config-dir']
    if (flags['from-master']) {
      if (args.folder !== undefined) throw new UsageError('Name a folder, or --from-master, not both.')
      this.say(await writeFleetDocs(configDir, out))
      return exitCodes.ok
    }
    refuseConfigDir(configDir)
    this.say(await writeFolderDocs(path.resolve(args.folder ?? '.'), out))
    return exitCodes.ok
  }
}
