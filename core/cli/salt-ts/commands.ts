/** The commands of `salt-ts` by their names, for oclif (`oclif` in package.json). */
import path from 'node:path'
import { string as word } from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { boolean, string } from '@oclif/core/flags'
import { packageRoot } from '../../process/own-package.ts'
import { create } from '../authoring/create.ts'
import { runTests } from '../authoring/run-tests.ts'
import { templateWords } from '../authoring/templates.ts'
import { writeTypes } from '../authoring/write-types.ts'
import { shells } from '../completion/scripts.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { helpFlags } from '../flags.ts'
import { programNames } from '../program/program-names.ts'

const baseFlags = { 'hard-crash': helpFlags['hard-crash'] }
const folder = word({ description: 'Folder (default: the current one).' })

class Create extends Command {
  static override description = 'Create an extension: a file, a test and the TypeScript settings.'
  static override usage = 'create KIND NAME [--dir DIR]'
  static override args = {
    kind: word({ description: `Kind of extension: ${templateWords.join(', ')}.` }),
    name: word({ description: 'Name of the extension.' }),
  }
  static override flags = {
    dir: string({ description: 'Folder for the extension (default: the current one).' }),
  }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args, flags } = await this.parse(Create)
    const { kind, name } = args
    if (kind === undefined || name === undefined)
      throw new UsageError('Name a kind and a name: salt-ts create module hello')
    return say(await create({ kind, name, directory: path.resolve(flags.dir ?? '.') }))
  }
}

class Test extends Command {
  static override description = 'Run the tests (*.test.ts) below a folder; needs no other packages.'
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
    'Write _catalogue.d.ts, which types call() for the functions of a folder of modules.'
  static override args = { folder }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args } = await this.parse(Types)
    return say(await writeTypes(path.resolve(args.folder ?? '.')))
  }
}

class Completion extends Command {
  static override description =
    'Print a script that completes all programs in a shell: eval "$(salt-ts completion bash)"'
  static override usage = 'completion bash|zsh|fish'
  static override args = { shell: word({ description: `One of ${Object.keys(shells).join(', ')}.` }) }
  static override baseFlags = baseFlags

  override async run(): Promise<number> {
    const { args } = await this.parse(Completion)
    const script = shells[args.shell ?? '']
    if (!script) throw new UsageError(`Name a shell: ${Object.keys(shells).join(', ')}.`)
    return say(script(programNames(), path.join(packageRoot, 'bin', 'complete.sh')).trimEnd())
  }
}

/** Print the result of a command to standard output. */
function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return exitCodes.ok
}

export const commands = { completion: Completion, create: Create, test: Test, types: Types }
