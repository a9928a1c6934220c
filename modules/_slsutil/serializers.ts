import { CommandExecutionError, fromRecordJson, jsonText } from 'salt-ts'
import { fromMsgpack, msgpack } from '#internal'
import { pythonRepr, pythonText } from '../_values/python.ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'
import { fromIni, iniOf } from './ini.ts'
import { fromToml, tomlOf } from './toml.ts'
import { fromYaml, yamlOf } from './yaml.ts'

type Options = Readonly<Record<string, unknown>>

interface Serializer {
  readonly serialize: (value: unknown, options: Options) => unknown
  readonly deserialize: (text: string, options: Options) => unknown
}

/** Find a serializer by name. @throws CommandExecutionError */
export function serializerOf(name: string): Serializer {
  const found = serializers.get(name)
  if (found) return found
  throw new CommandExecutionError(`Serializer '${name}' not found.`)
}

const serializers = new Map<string, Serializer>([
  ['json', { serialize: jsonOf, deserialize: fromRecordJson }],
  ['yaml', { serialize: yamlOf, deserialize: fromYaml }],
  ['configparser', { serialize: iniOf, deserialize: fromIni }],
  ['toml', { serialize: tomlOf, deserialize: fromToml }],
  ['python', { serialize: pythonRepr, deserialize: () => refuseToRead('python') }],
  ['keyvalue', { serialize: keyvalueOf, deserialize: fromKeyvalue }],
  ['msgpack', { serialize: msgpack, deserialize: (text) => fromMsgpack(Buffer.from(text, 'latin1')) }],
])

/** Takes `indent`, `sort_keys`, `separators` and `ensure_ascii`, as Python's `json.dumps`. */
function jsonOf(value: unknown, { indent, sort_keys, separators, ensure_ascii }: Options): string {
  const text = jsonText(value, {
    ...(typeof indent === 'number' && { step: indent }),
    ...(sort_keys === true && { order: sortedEntries }),
    ...(separators !== undefined && separators !== null && { separators: pairOf(separators) }),
  })
  return ensure_ascii === true ? text.replaceAll(/[^\0-\x7f]/g, escaped) : text
}

/** Between members, and after keys. */
function pairOf(separators: unknown): [string, string] {
  const [member, key, ...more] = Array.isArray(separators) ? separators : []
  if (typeof member === 'string' && typeof key === 'string' && more.length === 0) return [member, key]
  throw new CommandExecutionError('separators must be a list of two texts, such as \'[",", ":"]\'.')
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const sortedEntries = (map: unknown): [string, unknown][] =>
  isMapping(map) ? entriesOf(map).sort(([a], [b]) => (a < b ? -1 : 1)) : []

/** Takes `separator` and `line_ending`; `quoting: True` puts values into quotes. */
function keyvalueOf(value: unknown, options: Options): string {
  const { separator = '=', line_ending = '\n', quoting } = options
  return pairsOf(value)
    .map(([key, member]) => [key, quoting ? quoted(pythonText(member)) : pythonText(member)])
    .map(([key, member]) => `${key}${separator}${member}`)
    .join(String(line_ending))
}

function refuseToRead(name: string): never {
  throw new CommandExecutionError(`Serializer '${name}' does not implement deserialize.`)
}

function pairsOf(value: unknown): [string, unknown][] {
  if (isMapping(value)) return entriesOf(value)
  if (!Array.isArray(value)) throw new CommandExecutionError('Input validation failed. Iterable required.')
  return value.map((pair) => {
    if (Array.isArray(pair) && pair.length === 2) return [String(pair[0]), pair[1]]
    throw new CommandExecutionError('keyvalue takes a map, or a list of pairs [key, value].')
  })
}

/** Quote as Python's `shlex.quote` does. */
export const quoted = (text: string): string =>
  text !== '' && /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`

/** Takes `separator`; `quoting: False` removes quotes around values. */
function fromKeyvalue(text: string, { separator = '=', quoting }: Options): Record<string, string> {
  const between = String(separator)
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  const pairs = lines.map((line, index) => {
    const at = line.indexOf(between)
    if (at < 0) throw new CommandExecutionError(`Line ${index + 1} has no '${between}' in it: ${line}`)
    const value = line.slice(at + between.length)
    return [line.slice(0, at), quoting === false ? value.replace(/^(["'])(.*)\1$/s, '$2') : value] as const
  })
  return Object.fromEntries(pairs)
}
