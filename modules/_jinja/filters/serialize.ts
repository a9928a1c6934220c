/** The filters that Salt adds for YAML, JSON, XML, Python, and tables of MySQL. */
import { serializerOf } from '../../_slsutil/serializers.ts'
import { doubleQuoted } from '../../_slsutil/yaml.ts'
import { pythonRepr } from '../../_values/python.ts'
import { isMapping } from '../../_values/traverse.ts'
import { parsedData } from '../data.ts'
import type { Filter } from '../environment.ts'
import { asTemplateError, TemplateError } from '../errors.ts'
import type { Format } from '../syntax/nodes.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { entries } from '../values/dicts.ts'
import { elements, isTrue } from '../values/sequences.ts'
import { plain, strictText, text } from '../values/text.ts'
import { toNumber } from './salt-text.ts'
import { withSortedKeys } from './text.ts'
import { xmlDocument } from './xml.ts'

function serialized(value: unknown, name: string, options: Readonly<Record<string, unknown>>): string {
  const shown = String(serializerOf(name).serialize(plain(value), options))
  return shown.trim().replace(/\n\.\.\.$/, '')
}

const loaded =
  (format: Format): Filter =>
  (value, given, environment) => {
    bind({}, given)
    return parsedData(strictText(value), format, environment)
  }

export const serializeFilters: Readonly<Record<string, Filter>> = {
  yaml(value, given) {
    const { flow_style } = bind({ flow_style: true }, given)
    return serialized(value, 'yaml', { default_flow_style: isTrue(flow_style), allow_unicode: true })
  },
  json(value, given) {
    const { sort_keys, indent } = bind({ sort_keys: true, indent: null }, given)
    return serialized(value, 'json', { sort_keys: isTrue(sort_keys), indent, ensure_ascii: false })
  },
  tojson(value, given) {
    const { indent, sort_keys } = bind({ indent: null, sort_keys: false }, given)
    const options = { indent, sort_keys: isTrue(sort_keys), ensure_ascii: true }
    return String(serializerOf('json').serialize(plain(value), options)).replaceAll(
      /[<>&']/g,
      (each) => `\\u00${each.charCodeAt(0).toString(16)}`,
    )
  },
  python: withoutArguments((value) => pythonRepr(withSortedKeys(value))),
  dict_to_sls_yaml_params(value, given) {
    const { flow_style } = bind({ flow_style: false }, given)
    if (!isMapping(value)) throw new TemplateError('dict_to_sls_yaml_params takes a map')
    const list = entries(value).map(([key, inner]) => new Map([[key, inner]]))
    return serializerOf('yaml').serialize(plain(list), {
      default_flow_style: isTrue(flow_style),
      allow_unicode: true,
    })
  },
  xml: withoutArguments(xmlDocument),
  async json_query(value, given) {
    const { expr } = bind({ expr: REQUIRED }, given)
    const { search } = await import('@jmespath-community/jmespath')
    return asTemplateError(() => search(plain(value) as never, strictText(expr)))
  },
  mysql_to_dict(value, given) {
    const { key } = bind({ key: REQUIRED }, given)
    return rowsByKey(elements(value).map(text), text(key))
  },
  load_yaml: loaded('yaml'),
  load_json: loaded('json'),
  load_text: loaded('text'),
  // Those of Salt take arguments about the encoding, which change nothing here.
  json_decode_dict: (value) => value,
  json_decode_list: (value) => value,
  json_encode_dict: (value) => value,
  json_encode_list: (value) => value,
  yaml_dquote: withoutArguments((value) => doubleQuoted(text(value))),
  yaml_squote: withoutArguments(
    (value) => `'${text(value).replaceAll("'", "''").replaceAll(/\n+/g, '$&\n')}'`,
  ),
  yaml_encode: withoutArguments((value) => {
    if (typeof value === 'string') return doubleQuoted(value)
    if (Array.isArray(value) || isMapping(value))
      throw new TemplateError('yaml_encode() only works with YAML scalar data')
    return serialized(value, 'yaml', {})
  }),
}

/** Read a table as `mysql` draws it: a map of the rows by the value of a column. */
function rowsByKey(lines: readonly string[], key: string): Map<unknown, unknown> {
  const cells = lines
    .filter((line) => line !== '' && !line.startsWith('+'))
    .map((line) => line.split('|').slice(1, -1))
    .map((row) => row.map((cell) => cell.trim()))
  const [names, ...rows] = cells
  if (!names) return new Map()
  const column = names.indexOf(key)
  if (column < 0) throw new TemplateError(`the table has no column '${key}'`)
  return new Map(
    rows.map((row) => [
      toNumber(row[column]),
      new Map(names.map((name, at) => [name, toNumber(row[at] ?? '')])),
    ]),
  )
}
