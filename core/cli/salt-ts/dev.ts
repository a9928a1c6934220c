import { stat } from 'node:fs/promises'
import path from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { isMinionId } from '../../base/minion-id.ts'
import { LOG_LEVELS } from '../../config/index.ts'
import { configDirectory } from '../../config/location.ts'
import type { RealFleet } from '../dev/messages.ts'
import { UsageError } from '../exit-codes.ts'
import { number } from '../flags.ts'
import { AuthorCommand, type Usages } from './author-command.ts'
import { folder } from './folder-argument.ts'

const INSPECTOR_PORT = '9229'
const MAX_MINIONS = 20

export class Dev extends AuthorCommand {
  static override description =
    'Develop the extensions of a folder: a master and minions of your own, a prompt for their functions, and files that are loaded again when you save them.'
  static override usage = 'dev [FOLDER] [--minions N | --minion ID [-c DIR]] [--test] [--inspect[=PORT]]'
  static override usages: Usages = [
    [
      'dev [FOLDER] [--minions N] [--test] [--inspect[=PORT]]',
      'develop extensions: a master and minions, a prompt, and files that are loaded again when they are saved',
    ],
    [
      'dev [FOLDER] --minion ID [-c DIR]',
      'the same on a minion of a real master, which gets the files until the end',
    ],
  ]
  static override args = { folder }
  static override flags = {
    minions: number({ description: 'Number of minions (default 1).' }),
    minion: string({ description: 'Use this minion of a real master instead; it must run on this host.' }),
    'config-dir': string({
      char: 'c',
      description: 'Folder of the configuration of that master (default: SALT_CONFIG_DIR, then /etc/salt).',
    }),
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
      minions: fleetOf(flags),
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

interface FleetFlags {
  readonly minions?: number | undefined
  readonly minion?: string | undefined
  readonly inspect?: string | undefined
  readonly 'config-dir'?: string | undefined
}

function fleetOf({ minions, minion, inspect, 'config-dir': given }: FleetFlags): number | RealFleet {
  if (minion === undefined) {
    if (given === undefined) return countOf(minions ?? 1)
    throw new UsageError('-c is the configuration of a real master: name one of its minions with --minion.')
  }
  if (!isMinionId(minion)) throw new UsageError(`--minion needs the id of a minion, not '${minion}'.`)
  const other = minions !== undefined ? '--minions' : inspect !== undefined ? '--inspect' : undefined
  if (other) throw new UsageError(`${other} is for minions of its own: leave it out, or --minion.`)
  return { configDir: configDirectory(given), minion }
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
