/** INI files, as Python's `configparser.ConfigParser` writes and reads them (`salt.serializers.configparser`). */
import { CommandExecutionError } from 'salt-ts'
import { pythonText } from '../_values/python.ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'

/** Its keys are in each other section, too; it is none itself. */
const DEFAULTS = 'DEFAULT'
/** How often a value may name another one that names another one. */
const MAX_DEPTH = 10

type Section = Map<string, string>

/** Write a map of sections, which are maps. Keys become lower case. @throws CommandExecutionError */
export function iniOf(value: unknown): string {
  if (!isMapping(value)) throw new CommandExecutionError('configparser takes a map of sections.')
  return entriesOf(value)
    .map(([name, section]) => [name, sectionOf(name, section)] as const)
    .filter(([name, lines]) => name !== DEFAULTS || lines.length > 0)
    .sort(([a], [b]) => Number(b === DEFAULTS) - Number(a === DEFAULTS))
    .map(([name, lines]) => `[${name}]\n${lines.join('')}\n`)
    .join('')
}

function sectionOf(name: string, section: unknown): string[] {
  if (!isMapping(section)) throw new CommandExecutionError(`The section '${name}' must be a map.`)
  const values = new Map(entriesOf(section).map(([key, value]) => [key.toLowerCase(), textOf(key, value)]))
  return [...values].map(([key, text]) => `${key} = ${text.replaceAll('\n', '\n\t')}\n`)
}

function textOf(key: string, value: unknown): string {
  if (value === null) throw new CommandExecutionError(`The value of '${key}' must not be None.`)
  const text = pythonText(value)
  const at = text.replace(/%%|%\([^)]+\)s/g, (found) => '-'.repeat(found.length)).indexOf('%')
  if (at < 0) return text
  throw new CommandExecutionError(
    `invalid interpolation syntax in '${text}' at position ${at}: write % as %%.`,
  )
}

/** Read an INI file as a map of its sections, with `%(name)s` replaced. @throws CommandExecutionError with the line */
export function fromIni(text: string): Record<string, Record<string, string>> {
  const sections = parse(text)
  const defaults = sections.get(DEFAULTS) ?? new Map()
  sections.delete(DEFAULTS)
  return Object.fromEntries(
    [...sections].map(([name, own]) => {
      const all = new Map([...defaults, ...own])
      return [name, Object.fromEntries([...all].map(([key, value]) => [key, interpolate(value, all)]))]
    }),
  )
}

function parse(text: string): Map<string, Section> {
  const sections = new Map<string, Section>()
  let section: Section | undefined
  let key: string | undefined
  let indent = 0
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const wrong = (reason: string) =>
      new CommandExecutionError(`Line ${index + 1} of the INI file ${reason}: ${line}`)
    const words = /^\s*[#;]/.test(line) ? '' : line.trim()
    const depth = line.search(/\S/)
    if (words === '') {
      if (key !== undefined && line.trim() === '') section?.set(key, `${section.get(key)}\n`)
      continue
    }
    if (section && key !== undefined && depth > indent) {
      section.set(key, `${section.get(key)}\n${words}`)
      continue
    }
    indent = depth
    const [, header] = /^\[(.+)\]/.exec(words) ?? []
    if (header !== undefined) {
      if (sections.has(header) && header !== DEFAULTS) throw wrong('begins a section again')
      section = sections.get(header) ?? new Map()
      sections.set(header, section)
      key = undefined
      continue
    }
    const [, name, value = ''] = /^(.*?)\s*[=:]\s*(.*)$/.exec(words) ?? []
    if (!section) throw wrong('is in no section')
    if (!name) throw wrong('is neither a section nor a key with a value')
    key = name.toLowerCase()
    if (section.has(key)) throw wrong('sets a key again')
    section.set(key, value)
  }
  for (const values of sections.values())
    for (const [name, value] of values) values.set(name, value.replace(/\n+$/, ''))
  return sections
}

function interpolate(value: string, values: Section, depth = 1): string {
  if (depth > MAX_DEPTH) throw new CommandExecutionError(`The value '${value}' of the INI file names itself.`)
  return value.replace(/%(?:%|\(([^)]+)\)s|)/g, (found, name?: string) => {
    if (found === '%%') return '%'
    const other = name === undefined ? undefined : values.get(name.toLowerCase())
    if (other !== undefined) return interpolate(other, values, depth + 1)
    throw new CommandExecutionError(
      name === undefined
        ? `'%' must be followed by '%' or '(', found in the value '${value}' of the INI file.`
        : `The value '${value}' of the INI file names '${name}', which is not there.`,
    )
  })
}
