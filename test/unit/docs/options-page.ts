/** docs/options.md: every option, from the tables of the configuration. */
import { apiOptions } from '../../../core/api/settings.ts'
import { differences } from '../../../core/config/differences.ts'
import { masterOptions } from '../../../core/config/master-options.ts'
import { minionOptions } from '../../../core/config/minion-options.ts'
import type { Option, OptionTable } from '../../../core/config/option.ts'
import { cellText, markdownTable } from '../../harness/markdown.ts'

const master: OptionTable = masterOptions
const minion: OptionTable = minionOptions
const isShared = (name: string): boolean => name in master && master[name] === minion[name]

/** Defaults that depend on the host the page is written on. */
const ON_THIS_HOST: Readonly<Record<string, string>> = {
  user: 'the user who starts it',
  worker_threads: 'number of cores, from 2 to 5',
}

export function optionsPage(): string {
  const shared = entriesOf(master).filter(([name]) => isShared(name))
  const ofMaster = entriesOf(master).filter(([name]) => !isShared(name))
  const ofMinion = entriesOf(minion).filter(([name]) => !isShared(name))
  const api = entriesOf(apiOptions)
  return `# Every option

Written by \`npm run docs\` from the tables of options. [Configuration](configuration.md) explains the files and what options people
look for. The last column says what differs from Salt: "not in Salt" is an option of salt-ts alone; an empty cell means that name, type,
default and effect are Salt's. Paths are below \`root_dir\`. "–" means that there is no default.

- [Master and minion](#master-and-minion)
- [Master](#master)
- [Minion](#minion)
- [salt-api](#salt-api)
- [Without effect yet](#without-effect-yet)

## Master and minion

${tableOf(shared)}

## Master

${tableOf(ofMaster)}

## Minion

${tableOf(ofMinion)}

## salt-api

These stand under \`api\` in the configuration of the master, or under Salt's \`rest_cherrypy\` and \`rest_tornado\`.

${tableOf(api, { compare: false })}

## Without effect yet

These options of Salt are known and their type is checked; a warning says that they have no effect.

${withoutEffect().join(', ')}
`
}

function entriesOf(table: OptionTable): [string, Option][] {
  return Object.entries(table).filter(([, { later }]) => !later)
}

/** Return the options that have no effect yet; of those that the other daemon uses also which daemon ignores them. */
function withoutEffect(): string[] {
  const names = Object.keys({ ...master, ...minion }).filter(
    (name) => master[name]?.later || minion[name]?.later,
  )
  return names.sort().map((name) => {
    if (master[name] && !master[name].later) return `\`${name}\` (minion)`
    if (minion[name] && !minion[name].later) return `\`${name}\` (master)`
    return `\`${name}\``
  })
}

function tableOf(entries: readonly [string, Option][], { compare = true } = {}): string {
  const rows = entries.map(([name, option]) => [
    `\`${name}\``,
    typeOf(option),
    defaultOf(name, option),
    cellText(option.doc),
    ...(compare ? [cellText(differenceOf(name, option))] : []),
  ])
  return markdownTable(
    ['option', 'type', 'default', 'what it does', ...(compare ? ['differs from Salt'] : [])],
    rows,
  )
}

function differenceOf(name: string, option: Option): string {
  const found: unknown = differences[name as keyof typeof differences]
  if (typeof found === 'string') return found
  const by = found as { readonly master?: string; readonly minion?: string } | undefined
  if (by === undefined) return ''
  if (isShared(name))
    return [by.master && `master: ${by.master}`, by.minion && `minion: ${by.minion}`]
      .filter(Boolean)
      .join('; ')
  return (option === master[name] ? by.master : by.minion) ?? ''
}

function typeOf({ schema, path }: Option): string {
  const {
    type,
    enum: names,
    minimum,
    maximum,
  } = schema as {
    readonly type?: string | readonly string[]
    readonly enum?: readonly unknown[]
    readonly minimum?: number
    readonly maximum?: number
  }
  if (names) return names.map((name) => `\`${String(name)}\``).join(', ')
  if (path) return 'path'
  const words = [type ?? 'any'].flat().map((each) => TYPE_WORDS[each] ?? each)
  return words.join(' or ') + rangeOf(minimum, maximum)
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'list',
  object: 'map',
  boolean: 'boolean',
  integer: 'integer',
  number: 'number',
  null: 'null',
}

function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`
  return minimum === undefined ? '' : `, from ${minimum}`
}

function defaultOf(name: string, option: Option): string {
  if (ON_THIS_HOST[name]) return ON_THIS_HOST[name]
  const value = option.default
  if (value === undefined || value === '') return '–'
  return `\`${typeof value === 'string' ? cellText(value) : JSON.stringify(value)}\``
}
