/** TOML, in the layout of Python's `toml` (`salt.serializers.toml`). */
import { CommandExecutionError } from 'salt-ts'
import { floatText } from '#internal'
import { pythonText } from '../_values/python.ts'
import { entriesOf, isMapping, type Mapping } from '../_values/traverse.ts'

const BARE_KEY = /^[A-Za-z0-9_-]+$/

/** Write a map as TOML: values first, then lists of maps, then the maps level by level. Keys whose value is null are left out. */
export function tomlOf(value: unknown): string {
  if (!isMapping(value)) throw new CommandExecutionError('toml takes a map.')
  const { lines, tables } = partsOf(value, '')
  let text = lines
  for (let level = tables; level.length > 0; ) {
    const below: Table[] = []
    for (const { path, map } of level) {
      const own = partsOf(map, path)
      if (own.lines !== '' || own.tables.length === 0)
        text += `${text === '' || text.endsWith('\n\n') ? '' : '\n'}[${path}]\n${own.lines}`
      below.push(...own.tables)
    }
    level = below
  }
  return text
}

interface Table {
  /** Its keys, with dots between. */
  readonly path: string
  readonly map: Mapping
}

/** Return the lines of a map itself, and the maps in it, which have headers of their own. */
function partsOf(map: Mapping, path: string): { lines: string; tables: Table[] } {
  let [values, lists] = ['', '']
  const tables: Table[] = []
  for (const [name, value] of entriesOf(map)) {
    const key = BARE_KEY.test(name) ? name : quoted(name)
    const at = path === '' ? key : `${path}.${key}`
    if (isMapping(value)) tables.push({ path: at, map: value })
    else if (Array.isArray(value) && value.some(isMapping))
      lists += value.map((member) => listedTable(member, at)).join('')
    else if (value !== null && value !== undefined) values += `${key} = ${valueText(value)}\n`
  }
  return { lines: values + lists, tables }
}

function listedTable(member: unknown, path: string): string {
  if (!isMapping(member)) throw new CommandExecutionError(`The list '${path}' has maps and other values.`)
  const { lines, tables } = partsOf(member, path)
  const own = lines.startsWith('[') ? `\n${lines}` : `${lines}\n`
  return `[[${path}]]\n${own}${tables.map(tableBelow).join('')}`
}

function tableBelow({ path, map }: Table): string {
  const { lines, tables } = partsOf(map, path)
  return (lines === '' ? '' : `[${path}]\n${lines}`) + tables.map(tableBelow).join('')
}

function valueText(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? '[]' : `[${value.map((member) => ` ${valueText(member)},`).join('')}]`
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number' || value instanceof Number) return numberOf(value)
  return quoted(pythonText(value))
}

function numberOf(value: unknown): string {
  if (typeof value === 'number' && Number.isInteger(value)) return String(value)
  return floatText(Number(value)).replace(/(?<=e[+-])0/, '')
}

const quoted = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f')

/** Read TOML. Dates and times become text. */
export async function fromToml(text: string): Promise<unknown> {
  const { parse } = await import('smol-toml')
  return pythonValue(parse(text, { integersAsBigInt: true }))
}

/** Keeps 1.0 a float, and makes small integers numbers again. */
function pythonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (typeof value === 'number') return Number.isInteger(value) ? new Number(value) : value
  if (Array.isArray(value)) return value.map(pythonValue)
  if (value instanceof Date) return value.toISOString()
  if (!isMapping(value)) return value
  return Object.fromEntries(entriesOf(value).map(([key, member]) => [key, pythonValue(member)]))
}
