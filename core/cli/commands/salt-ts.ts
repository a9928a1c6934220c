import { Plugin } from '@oclif/core/config'
import type { FlagInput } from '@oclif/core/interfaces'
import { run } from '@oclif/core/run'
import { settings } from '@oclif/core/settings'
import { packageRoot } from '../../process/own-package.ts'
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
    'Create, develop, test and check modules and other extensions, write types and web pages, make packages, and print shell completion.'
  static override usage = Object.values(commands)
    .flatMap(({ usages }) => usages)
    .map(([words, does], index) => `${index === 0 ? '' : '       '}salt-ts ${words}\n    ${does}`)
    .join('\n')
  static override examples = [
    'salt-ts create module hello',
    'salt-ts dev --test',
    'salt-ts test',
    'salt-ts types modules',
    'salt-ts types --from-master',
    'salt-ts pack --out dist',
    'salt-ts docs --out site',
  ]
  static override flags = Object.assign(
    {},
    ...Object.values(commands).map(({ flags }) => flags),
    helpFlags,
  ) as FlagInput

  override async run(): Promise<number> {
    if (this.argv.length === 0) throw new UsageError(`Name a command: ${Object.keys(commands).join(', ')}.`)
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
