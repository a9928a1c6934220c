/** The commands of `salt-ts` by their names, for oclif (`oclif` in package.json). */
import path from 'node:path'
import { string as word } from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import { packageRoot } from '../../loader/own-package.ts'
import { create } from '../authoring/create.ts'
import { runTests } from '../authoring/run-tests.ts'
import { templateWords } from '../authoring/templates.ts'
import { writeTypes } from '../authoring/write-types.ts'
import { shells } from '../completion/scripts.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { helpFlags } from '../flags.ts'

const baseFlags = { 'hard-crash': helpFlags['hard-crash'] }
const folder = word({ description: 'Folder (default: this one).' })

class Create extends Command {
  static override description = 'Begin an extension: a file, a test and what TypeScript needs.'
  static override usage = 'create KIND NAME [--dir DIR]'
  static override args = {
    kind: word({ description: `What it is: ${templateWords.join(', ')}.` }),
    name: word({ description: 'Its name.' }),
  }
  static override flags = { dir: string({ description: 'The folder to put it into (default: this one).' }) }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Create)
    const { kind, name } = args
    if (kind === undefined || name === undefined)
      throw new UsageError('Say what to create, and its name: salt-ts create module hello')
    return say(await create({ kind, name, directory: path.resolve(flags.dir ?? '.') }))
  }
}

class Test extends Command {
  static override description =
    'Run the tests (*.test.ts) below a folder; nothing else needs to be installed.'
  static override args = { folder }
  static override flags = { watch: boolean({ description: 'Run the tests again when a file is saved.' }) }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Test)
    return runTests(path.resolve(args.folder ?? '.'), { watch: flags.watch })
  }
}

class Types extends Command {
  static override description =
    'Write _catalogue.d.ts, by which call() knows the functions of a folder of modules.'
  static override args = { folder }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args } = await this.parse(Types)
    return say(await writeTypes(path.resolve(args.folder ?? '.')))
  }
}

const PROGRAMS = [
  'salt',
  'salt-api',
  'salt-call',
  'salt-key',
  'salt-master',
  'salt-minion',
  'salt-run',
  'salt-ts',
]

class Completion extends Command {
  static override description =
    'Print what makes a shell complete all programs: eval "$(salt-ts completion bash)"'
  static override usage = 'completion bash|zsh|fish'
  static override args = { shell: word({ description: `One of ${Object.keys(shells).join(', ')}.` }) }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args } = await this.parse(Completion)
    const script = shells[args.shell ?? '']
    if (!script) throw new UsageError(`Say for which shell: ${Object.keys(shells).join(', ')}.`)
    return say(script(PROGRAMS, path.join(packageRoot, 'bin', 'complete.sh')).trimEnd())
  }
}

/** Print what was done: it is the data of this program. */
function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return exitCodes.ok
}

export const commands = { completion: Completion, create: Create, test: Test, types: Types }
