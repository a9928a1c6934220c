/** Words for completion that are known at build time: options, and built-in extensions. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceFacts } from '../../loader/describe/read-source.ts'
import type { FileDescription } from '../../loader/files/manifest.ts'
import { codeRoot } from '../../process/own-package.ts'
import { templateWords } from '../authoring/templates/index.ts'
import type { Program } from '../program/program.ts'
import { type FlagSpec, flagsOf } from '../program/typed-options.ts'
import { parameterNames, type Row, type Tables } from './rows.ts'

/**
 * Return the tables `options-PROGRAM`, with a row per option: name, letter, aliases, `value` if it takes one, allowed
 * values, description.
 */
export const optionTables = (programs: readonly Program[]): Tables =>
  Object.fromEntries(programs.map((program) => [`options-${program.id}`, flagsOf(program).map(option)]))

/**
 * Return the tables `functions` and `runners` (with parameters), `outputters`, `returners` and `executors`, from the
 * manifests of the build, and `kinds`, which `salt-ts create` takes.
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
  Object.keys(written(folder, 'manifest'))
    .sort()
    .map((name) => [name])

const option = ([name, facts]: readonly [string, FlagSpec]): Row => {
  const { type, char = '', aliases = [], options = [], description = '' } = facts
  const [meaning = ''] = description.split('. ', 1)
  return [name, char, aliases.join(','), type === 'boolean' ? '' : 'value', options.join(','), meaning]
}

function functionsOf(kind: 'modules' | 'runners'): Row[] {
  const facts = written<SourceFacts>(kind, 'manifest')
  return Object.entries(written<FileDescription>(kind, 'descriptions'))
    .flatMap(([file, { params }]) =>
      (facts[file]?.names ?? [file]).flatMap((name) =>
        Object.entries(params).map(([own, takes]) => [`${name}.${own}`, parameterNames(takes)] as const),
      ),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Read what the build wrote about the files of a kind, by the name of each. */
const written = <T>(folder: string, name: string): Readonly<Record<string, T>> =>
  JSON.parse(readFileSync(join(codeRoot, folder, `${name}.json`), 'utf8'))
