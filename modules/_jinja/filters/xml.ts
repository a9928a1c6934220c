/** The filter that Salt adds for XML. */
import { isMapping, type Mapping } from '../../_values/traverse.ts'
import { TemplateError } from '../errors.ts'
import { entries } from '../values/dicts.ts'
import { isNumber } from '../values/numbers.ts'
import { typeOf } from '../values/objects.ts'
import { text } from '../values/text.ts'

/** Write a map of one element as an XML document: its maps and lists are elements inside, its other values attributes. */
export function xmlDocument(value: unknown): string {
  if (!isMapping(value)) throw new TemplateError(`a map of one element was expected, not '${typeOf(value)}'`)
  const [root, ...others] = elementsOf(entries(value), '')
  if (root === undefined || others.length > 0)
    throw new TemplateError(
      `an XML document has one element, not ${root === undefined ? 0 : others.length + 1}`,
    )
  return `<?xml version="1.0" ?>\n${root}`
}

/** Each element of a list is an element of its own, by the name of the list. */
const elementsOf = (pairs: readonly (readonly [unknown, unknown])[], indent: string): string[] =>
  pairs.flatMap(([tag, value]) =>
    Array.isArray(value)
      ? elementsOf(
          value.map((each) => [tag, each]),
          indent,
        )
      : [elementOf(text(tag), value, indent)],
  )

function elementOf(tag: string, value: unknown, indent: string): string {
  if (isMapping(value)) return elementOfMap(tag, value, indent)
  if (typeof value !== 'string' && typeof value !== 'boolean' && !isNumber(value))
    throw new TemplateError(`the element '${tag}' cannot be '${typeOf(value)}'`)
  const content = escaped(text(value))
  return content === '' ? `${indent}<${tag}/>\n` : `${indent}<${tag}>${content}</${tag}>\n`
}

function elementOfMap(tag: string, map: Mapping, indent: string): string {
  const isInside = (value: unknown) => isMapping(value) || Array.isArray(value)
  const all = entries(map)
  const attributes = all
    .filter(([, value]) => !isInside(value))
    .map(([name, value]) => ` ${text(name)}="${escaped(text(value))}"`)
  const inside = elementsOf(
    all.filter(([, value]) => isInside(value)),
    `${indent} `,
  )
  const start = `${indent}<${tag}${attributes.join('')}`
  return inside.length === 0 ? `${start}/>\n` : `${start}>\n${inside.join('')}${indent}</${tag}>\n`
}

const escaped = (shown: string): string =>
  shown.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll('>', '&gt;')
