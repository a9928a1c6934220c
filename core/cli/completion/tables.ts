/** What completing has to know of the programs and of what is built in. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeRoot } from '../../loader/own-package.ts'
import { templateWords } from '../authoring/templates.ts'
import type { Program } from '../program.ts'
import { type FlagFacts, flagsOf } from '../typed-options.ts'
import { type Parameters, parameters, type Row, type Tables } from './rows.ts'

/** `options-PROGRAM`, a row per option: name, letter, other names, `value` if it takes one, allowed values, meaning. */
export const optionTables = (programs: readonly Program[]): Tables =>
  Object.fromEntries(programs.map((program) => [`options-${program.id}`, flagsOf(program).map(option)]))

/**
 * `functions`, `runners`, each with what it takes, `outputters`, `returners`, `executors`: what the build wrote down; and the
 * `kinds` that `salt-ts create` knows.
 */
export const builtInTables = (): Tables => ({
  functions: functionsOf('modules'),
  runners: functionsOf('runners'),
  outputters: namesIn('plugins/outputters'),
  returners: namesIn('returners'),
  executors: namesIn('plugins/executors'),
  kinds: templateWords.map((word) => [word]),
})

const namesIn = (folder: string): Row[] =>
  Object.keys(manifest(folder))
    .sort()
    .map((name) => [name])

const option = ([name, facts]: readonly [string, FlagFacts]): Row => {
  const { type, char = '', aliases = [], options = [], description = '' } = facts
  const [meaning = ''] = description.split('. ', 1)
  return [name, char, aliases.join(','), type === 'boolean' ? '' : 'value', options.join(','), meaning]
}

const functionsOf = (kind: 'modules' | 'runners'): Row[] =>
  Object.entries(manifest(kind))
    .flatMap(([file, { names = [file], params }]) =>
      names.flatMap((name) =>
        Object.entries(params).map(([own, takes]) => [`${name}.${own}`, parameters(takes)] as const),
      ),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))

interface Entry {
  readonly names?: readonly string[]
  readonly params: Readonly<Record<string, Parameters>>
}

/** What the build wrote down of a kind. */
const manifest = (folder: string): Readonly<Record<string, Entry>> =>
  JSON.parse(readFileSync(join(codeRoot, folder, 'manifest.json'), 'utf8'))
