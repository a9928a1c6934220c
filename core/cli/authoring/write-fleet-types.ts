import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { counted } from '../../base/sentence.ts'
import { functionHelp } from '../../loader/describe/function-help.ts'
import { codeRoot } from '../../process/own-package.ts'
import { type FleetFunction, offerSentences, readFleet } from './fleet-functions.ts'
import { functionType, quoted } from './schema-types.ts'
import { writeGenerated } from './write-generated.ts'

const FILE = 'fleet-functions.d.ts'
const HEADER = '// Written by `salt-ts types --from-master`: the functions of a fleet. Changes are lost.\n'
/** Names of minions in the documentation of a function; of more, their number is given. */
const NAMED_MINIONS = 5
const MAX_DOC_LENGTH = 4000

/**
 * Write the types of the functions that the minions of a master have reported, but for those that salt-ts or the modules in the
 * folder declare. Returns the text to print.
 */
export async function writeFleetTypes(folder: string, configDir: string | undefined): Promise<string> {
  const fleet = await readFleet(configDir)
  const declared = await declaredNames(folder)
  const functions = fleet.functions.filter(({ name }) => !declared.has(name))
  const done = await writeGenerated(path.join(folder, FILE), HEADER, render(functions, fleet.minions))
  const known = fleet.functions.length - functions.length
  return [
    `${done}: ${counted(functions.length, 'function')} of ${counted(fleet.minions, 'minion')} (${known} more have types already)`,
    ...fleet.notes.map((note) => `Note: ${note}`),
  ].join('\n')
}

/** Return the names that have types: those of salt-ts, and those that `salt-ts types` wrote for modules in the folder. */
async function declaredNames(folder: string): Promise<Set<string>> {
  const own = ['.', 'modules', '_modules'].map((name) => path.join(folder, name, '_catalogue.d.ts'))
  const files = [
    path.join(codeRoot, 'modules/_catalogue.d.ts'),
    path.join(codeRoot, 'modules/_catalogue.ts'),
    ...own,
  ]
  const names = new Set<string>()
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '')
    for (const [, name = ''] of text.matchAll(/^ +'([^']+)': /gm)) names.add(name)
  }
  return names
}

function render(functions: readonly FleetFunction[], minions: number): string {
  const members = functions.map((found) => {
    const { name, params, returns } = found
    return `${comment(found, minions)}    ${quoted(name)}: ${functionType(params, returns)}\n`
  })
  const imports = "import type { Context, Fn, Param } from 'salt-ts'\n"
  return `${HEADER}${imports}\ndeclare module 'salt-ts' {\n  interface Functions {\n${members.join('')}  }\n}\n`
}

function comment(found: FleetFunction, all: number): string {
  const { doc, params, returns, python } = found
  const help = functionHelp(doc, python ? undefined : { params, returns: returns && { schema: returns } })
  const lines = [
    ...(help === undefined ? [] : [...plain(help).split('\n'), '']),
    ...offerSentences(found, all, NAMED_MINIONS),
  ]
  return `    /**\n${lines.map((line) => `     * ${line}`.trimEnd()).join('\n')}\n     */\n`
}

/** Return text of a minion as it may stand in a comment. */
const plain = (doc: string): string =>
  doc
    .slice(0, MAX_DOC_LENGTH)
    .replace(/[^\P{C}\n\t]/gu, '')
    .replaceAll('*/', '*\u200b/')
    .trim()
