import path from 'node:path'
import { boolean } from '@oclif/core/flags'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'
import { fromMasterFlags, refuseConfigDir } from './from-master-flags.ts'

export class Types extends AuthorCommand {
  static override description =
    'Write _catalogue.d.ts, which types call() for the functions of a folder of modules; with --from-master fleet-functions.d.ts, for those that minions have reported.'
  static override usages: Usages = [
    [
      'types [FOLDER] [--watch]',
      'write _catalogue.d.ts, which types call() for the functions of a folder of modules',
    ],
    [
      'types [FOLDER] --from-master [-c DIR]',
      'write fleet-functions.d.ts, for the functions that minions have reported to the master of this host',
    ],
  ]
  static override args = { folder }
  static override flags = {
    ...fromMasterFlags,
    watch: boolean({ description: 'Write them again when a file of the folder is saved.' }),
  }

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Types)
    const directory = path.resolve(args.folder ?? '.')
    const configDir = flags['config-dir']
    if (flags['from-master']) {
      if (flags.watch) throw new UsageError('--watch is for the modules of a folder, not for --from-master')
      const { writeFleetTypes } = await import('../authoring/write-fleet-types.ts')
      this.say(await writeFleetTypes(directory, configDir))
      return exitCodes.ok
    }
    refuseConfigDir(configDir)
    if (flags.watch) return (await import('../authoring/watch-types.ts')).watchTypes(directory)
    const { writeTypes } = await import('../authoring/write-types.ts')
    this.say(await writeTypes(directory))
    return exitCodes.ok
  }
}
