import path from 'node:path'
import { boolean } from '@oclif/core/flags'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'

export class Test extends AuthorCommand {
  static override description = 'Run the tests (*.test.ts) below a folder; needs no other packages.'
  static override usages: Usages = [
    ['test [FOLDER] [--watch]', 'run the tests (*.test.ts) below a folder; needs no other packages'],
  ]
  static override args = { folder }
  static override flags = { watch: boolean({ description: 'Run the tests again when a file is saved.' }) }

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Test)
    const { runTests } = await import('../authoring/run-tests.ts')
    return runTests(path.resolve(args.folder ?? '.'), { watch: flags.watch })
  }
}
