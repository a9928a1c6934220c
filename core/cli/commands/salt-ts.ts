import { Plugin } from '@oclif/core/config'
import { run } from '@oclif/core/run'
import { settings } from '@oclif/core/settings'
import { packageRoot } from '../../process/own-package.ts'
import { templateWords } from '../authoring/templates.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { helpFlags } from '../flags.ts'
import { printNote } from '../output/console.ts'
import { BaseProgram } from '../program/base-program.ts'
import { commands } from '../salt-ts/commands.ts'
import { loadPlugins } from '../salt-ts/plugins.ts'

/**
 * The program for authors. It is an oclif program: its commands, hooks and settings are in the section `oclif` of
 * package.json.
 */
export default class SaltTs extends BaseProgram {
  static override id = 'salt-ts'
  static readonly hasCommands = true
  static override description =
    'Create modules and other extensions, run their tests, write the types of call(), and print shell completion.'
  static override usage = [
    'salt-ts create KIND NAME [--dir DIR]',
    `    create an extension, its test and TypeScript settings; KIND is ${templateWords.join(', ')}`,
    '       salt-ts test [FOLDER] [--watch]',
    '    run the tests (*.test.ts) below a folder; needs no other packages',
    '       salt-ts types [FOLDER]',
    '    write _catalogue.d.ts, which types call() for the functions of a folder of modules',
    '       salt-ts completion bash|zsh|fish',
    '    print a script that completes all programs in that shell: eval "$(salt-ts completion bash)"',
  ].join('\n')
  static override examples = ['salt-ts create module hello', 'salt-ts test', 'salt-ts types modules']
  static override flags = { ...commands.create.flags, ...commands.test.flags, ...helpFlags }

  override async run(): Promise<number> {
    if (this.argv.length === 0) throw new UsageError('Name a command: create, test, types or completion.')
    settings.enableAutoTranspile = false
    const own = new Plugin({ root: packageRoot, isRoot: true, ignoreManifest: true })
    await own.load()
    const plugins = new Map([[own.name, own], ...(await loadPlugins())])
    try {
      const code = await run(this.argv, { root: packageRoot, plugins })
      return typeof code === 'number' ? code : exitCodes.ok
    } catch (error) {
      return ended(error)
    }
  }
}

/** Return the exit code of an error that ended a command. oclif ends commands by errors, also successful ones. */
function ended(error: unknown): number {
  const { code, message, oclif } = error as Partial<CommandError>
  if (oclif?.exit === undefined || UsageError.is(error)) throw error
  if (code !== 'EEXIT') printNote(`ERROR: ${message}`)
  return oclif.exit
}

interface CommandError extends Error {
  readonly code: string
  readonly oclif: { readonly exit?: number }
}
