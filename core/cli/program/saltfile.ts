/** Saltfiles: YAML files with default options for programs. */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { closest } from '../../base/closest.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { UsageError } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import type { Program } from './program.ts'
import { type Flag, flagsOf, typedValue } from './typed-options.ts'

/** Salt's internal names of options, where they differ from the option. */
const SALT_NAMES: Readonly<Record<string, string>> = {
  auth_timeout: 'timeout',
  batch_size: 'batch',
  cli_summary: 'summary',
  grains_run: 'grains',
  list_hosts: 'hosts',
  log_level_logfile: 'log-file-level',
  mktoken: 'make-token',
  pidfile: 'pid-file',
  pillar_target: 'pillar',
  print_metadata: 'metadata',
  profiling_enabled: 'enable-profiling',
  state_output_diff: 'output-diff',
}

/**
 * Return the words that a Saltfile adds in front of the typed ones, which win. The file is the first that exists of
 * `--saltfile`, SALT_SALTFILE in the environment, ./Saltfile and ~/.salt/Saltfile.
 * @throws UsageError; SaltError PERMISSIONS if others could have written the file
 */
export async function saltfileWords(program: Program, argv: readonly string[]): Promise<string[]> {
  if (!program.flags?.saltfile) return []
  const path = pathOf(argv)
  if (path === undefined) return []
  const options = await optionsIn(path, program.id)
  const flags = flagsOf(program)
  return Object.entries(options).flatMap(([key, value]) => {
    const flag = flagFor(program.id, key, value, flags)
    if (flag) return wordsOf(flag, value)
    const names = flags.flatMap(([name, { aliases = [] }]) => [name, ...aliases])
    const similar = closest(key, names)
    printNote(
      `WARNING: ${path}: ${program.id} has no option ${key}${similar ? `; did you mean ${similar}?` : '.'}`,
    )
    return []
  })
}

function pathOf(argv: readonly string[]): string | undefined {
  const named = typedValue(argv, 'saltfile') ?? process.env.SALT_SALTFILE
  if (named) {
    if (!existsSync(named)) throw new UsageError(`There is no Saltfile ${named}.`)
    return resolve(named)
  }
  return [resolve('Saltfile'), join(homedir(), '.salt', 'Saltfile')].find((path) => existsSync(path))
}

async function optionsIn(path: string, program: string): Promise<Readonly<Record<string, unknown>>> {
  const { readTrusted } = await import('../../config/permissions.ts')
  const { parseYaml } = await import('../../config/yaml.ts')
  const text = readTrusted(path) ?? ''
  if (text.trim() === '') return {}
  let content: unknown
  try {
    content = parseYaml(text)
  } catch (error) {
    throw new UsageError(`The Saltfile ${path} is not valid YAML: ${messageOf(error)}`)
  }
  const options = isRecord(content) ? content[program] : undefined
  if (options === undefined || options === null) return {}
  if (isRecord(options)) return options
  throw new UsageError(`The Saltfile ${path} needs lines of "option: value" under ${program}.`)
}

/** Find an option by its name, with _ or -, by an alias, or by Salt's internal name. */
function flagFor(program: string, key: string, value: unknown, flags: readonly Flag[]): Flag | undefined {
  const wanted = [key, key.replaceAll('_', '-'), SALT_NAMES[key]]
  if (key === 'show_timeout') wanted.push(value === false ? 'hide-timeout' : 'show-timeout')
  if (key === 'metadata' && program === 'salt-call') wanted.unshift('set-metadata')
  for (const name of wanted) {
    const found = flags.find(([flag, { aliases = [] }]) => flag === name || (name && aliases.includes(name)))
    if (found) return found
  }
  return undefined
}

function wordsOf([name, { type }]: Flag, value: unknown): string[] {
  if (type === 'boolean') return value === true || name === 'hide-timeout' ? [`--${name}`] : []
  const values = Array.isArray(value) ? value : [value ?? '']
  return values.map((each) => `--${name}=${typeof each === 'object' ? JSON.stringify(each) : String(each)}`)
}
