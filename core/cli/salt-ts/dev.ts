import { stat } from 'node:fs/promises'
import path from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { LOG_LEVELS } from '../../config/index.ts'
import { UsageError } from '../exit-codes.ts'
import { number } from '../flags.ts'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'

const INSPECTOR_PORT = '9229'
const MAX_MINIONS = 20

export class Dev extends AuthorCommand {
  static override description =
    'Develop the extensions of a folder: a master and minions of your own, a prompt for their functions, and files that are loaded again when you save them.'
  static override usage = 'dev [FOLDER] [--minions N] [--test] [--inspect[=PORT]]'
  static override usages: Usages = [
    [
      'dev [FOLDER] [--minions N] [--test] [--inspect[=PORT]]',
      'develop extensions: a master and minions, a prompt, and files that are loaded again when they are saved',
    ],
  ]
  static override args = { folder }
  static override flags = {
    minions: number({ description: 'Number of minions (default 1).' }),
    test: boolean({ description: 'Run the tests (*.test.ts) again when a file is saved.' }),
    inspect: string({
      description: `Let a debugger connect to the process where functions run (default port: ${INSPECTOR_PORT}).`,
    }),
    out: string({ description: 'Outputter of results: nested, json, yaml, txt, …' }),
    'log-level': string({
      char: 'l',
      options: LOG_LEVELS,
      description: 'Log of the minions to standard error, from this level up (default: warning).',
    }),
  }

  override async run(): Promise<number> {
    const words = this.argv.map((word) => (word === '--inspect' ? `--inspect=${INSPECTOR_PORT}` : word))
    const { args, flags } = await this.parse(Dev, words)
    const directory = await existing(path.resolve(args.folder ?? '.'))
    const { develop } = await import('../dev/develop.ts')
    return develop({
      folder: directory,
      minions: countOf(flags.minions ?? 1),
      test: flags.test,
      inspect: flags.inspect === undefined ? undefined : portOf(flags.inspect),
      out: flags.out,
      logLevel: flags['log-level'] ?? 'warning',
    })
  }
}

async function existing(directory: string): Promise<string> {
  const facts = await stat(directory).catch(() => undefined)
  if (facts?.isDirectory()) return directory
  throw new UsageError(`${directory} is not a folder. Name the folder with your extensions.`)
}

function countOf(minions: number): number {
  if (Number.isInteger(minions) && minions >= 1 && minions <= MAX_MINIONS) return minions
  throw new UsageError(`--minions needs a number from 1 to ${MAX_MINIONS}, not ${minions}.`)
}

function portOf(text: string): number {
  const port = Number(text)
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--inspect needs a port from 0 to 65535, as in --inspect=9230, not '${text}'.`)
}
