import path from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { exitCodes } from '../exit-codes.ts'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'

export class Check extends AuthorCommand {
  static override description =
    'Find the mistakes in the extensions of a folder before they ship; each is loaded in a process of its own.'
  static override usages: Usages = [
    [
      'check [FOLDER] [--strict] [--format text|json|sarif] [--output FILE]',
      'find the mistakes in the extensions of a folder before they ship',
    ],
  ]
  static override args = { folder }
  static override flags = {
    strict: boolean({ description: 'Exit with 1 for warnings, too, and not only for errors.' }),
    format: string({
      options: ['text', 'json', 'sarif'],
      default: 'text',
      description: 'Form of the report.',
    }),
    output: string({ description: 'File for the report (default: standard output).' }),
  }

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Check)
    const { checkFolder } = await import('../authoring/check/check-folder.ts')
    const { count, reports, summary } = await import('../authoring/check/report.ts')
    const { openOutputFile } = await import('../output/output-file.ts')
    const write = flags.output === undefined ? undefined : openOutputFile(flags.output, false, '--output')
    const checked = await checkFolder(path.resolve(args.folder ?? '.'))
    const report = reports[flags.format as keyof typeof reports](checked)
    if (write) write(`${report}\n`)
    else if (report !== '') this.say(report)
    if (write || flags.format === 'text') this.say(summary(checked))
    const failed = count(checked.findings, 'error') + (flags.strict ? count(checked.findings, 'warning') : 0)
    return failed > 0 ? exitCodes.failed : exitCodes.ok
  }
}
