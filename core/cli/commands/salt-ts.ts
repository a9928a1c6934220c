import { Plugin } from '@oclif/core/config'
import { run } from '@oclif/core/run'
import { settings } from '@oclif/core/settings'
import { packageRoot } from '../../loader/own-package.ts'
import { templateWords } from '../authoring/templates.ts'
import { BaseProgram } from '../base-program.ts'
import { tell } from '../console.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { helpFlags } from '../flags.ts'
import { commands } from '../salt-ts/commands.ts'
import { loadPlugins } from '../salt-ts/plugins.ts'

/** An oclif program: its commands, hooks and settings are in the section `oclif` of package.json. */
export default class SaltTs extends BaseProgram {
  static override id = 'salt-ts'
  static readonly hasCommands = true
  static override description =
    'For authors of modules and other extensions: begin one, run its tests, write the types of call(). For shells: completion.'
  static override usage = [
    'salt-ts create KIND NAME [--dir DIR]',
    `    a file, a test and what TypeScript needs; KIND is ${templateWords.join(', ')}`,
    '       salt-ts test [FOLDER] [--watch]',
    '    run the tests (*.test.ts) below a folder; nothing else needs to be installed',
    '       salt-ts types [FOLDER]',
    '    write _catalogue.d.ts, by which call() knows the functions of a folder of modules',
    '       salt-ts completion bash|zsh|fish',
    '    print what makes that shell complete all programs: eval "$(salt-ts completion bash)"',
  ].join('\n')
  static override examples = ['salt-ts create module hello', 'salt-ts test', 'salt-ts types modules']
  static override flags = { ...commands.create.flags, ...commands.test.flags, ...helpFlags }

  override async run(): Promise<number> {
    if (this.argv.length === 0) throw new UsageError('Say what to do: create, test, types or completion.')
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

/** Commands of plugins end by errors that have an exit code, which may mean that all is well. */
function ended(error: unknown): number {
  const { code, message, oclif } = error as Partial<CommandError>
  if (oclif?.exit === undefined || UsageError.is(error)) throw error
  if (code !== 'EEXIT') tell(`ERROR: ${message}`)
  return oclif.exit
}

interface CommandError extends Error {
  readonly code: string
  readonly oclif: { readonly exit?: number }
}
