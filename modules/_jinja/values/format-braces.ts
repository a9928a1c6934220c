/** Formats texts by `{}`, as Python's `str.format` does. */
import { pythonAscii, pythonRepr } from '../../_values/python.ts'
import { TemplateError } from '../errors.ts'
import { formatBySpec } from './format-spec.ts'
import { elementOf, type Given, text } from './values.ts'

const FIELD = /^([^.[!:]*)((?:\.[^.[!:]+|\[[^\]]+\])*)(?:!([rsa]))?(?::([\s\S]*))?$/

/** Replace the places `{}`, `{0}`, `{name.part[0]!r:>8}`, … of a text. @throws TemplateError */
export function formatBraces(template: string, given: Given): string {
  let next = 0
  let isNumbered = false
  let shown = ''
  for (let at = 0; at < template.length; ) {
    const character = template[at] as string
    if (template.startsWith(character.repeat(2), at) && '{}'.includes(character)) {
      shown += character
      at += 2
    } else if (character === '{') {
      const end = endOf(template, at)
      const field = FIELD.exec(template.slice(at + 1, end))
      if (!field) throw new TemplateError('expected }, or a field name, in format string')
      const [, name = '', path = '', conversion, spec = ''] = field
      isNumbered ||= /^\d/.test(name)
      if (isNumbered && (name === '' || next > 0) && !/^[^\d]/.test(name))
        throw new TemplateError(
          name === ''
            ? 'cannot switch from manual field specification to automatic field numbering'
            : 'cannot switch from automatic field numbering to manual field specification',
        )
      const value = follow(givenValue(name === '' ? String(next++) : name, given), path)
      const inner = spec.includes('{') ? formatBraces(spec, { ...given, args: given.args.slice(next) }) : spec
      shown += formatBySpec(converted(value, conversion), inner)
      at = end + 1
    } else if (character === '}') throw new TemplateError("Single '}' encountered in format string")
    else {
      shown += character
      at++
    }
  }
  return shown
}

/** What `!s`, `!r` and `!a` make of a value. */
function converted(value: unknown, conversion: string | undefined): unknown {
  if (conversion === undefined) return value
  if (conversion === 's') return text(value)
  return conversion === 'r' ? pythonRepr(value) : pythonAscii(value)
}

/** The end of a field, which may have fields in its specification. */
function endOf(template: string, start: number): number {
  let depth = 0
  for (let at = start; at < template.length; at++) {
    if (template[at] === '{') depth++
    if (template[at] === '}' && --depth === 0) return at
  }
  throw new TemplateError("Single '{' encountered in format string")
}

function givenValue(name: string, { args, kwargs }: Given): unknown {
  if (!/^\d+$/.test(name)) {
    if (!kwargs.has(name)) throw new TemplateError(`KeyError: '${name}'`)
    return kwargs.get(name)
  }
  const index = Number(name)
  if (index >= args.length)
    throw new TemplateError(`Replacement index ${index} out of range for positional args tuple`)
  return args[index]
}

function follow(start: unknown, path: string): unknown {
  let value = start
  for (const [step] of path.matchAll(/\.[^.[]+|\[[^\]]+\]/g)) {
    const name = step.startsWith('.') ? step.slice(1) : step.slice(1, -1)
    value = elementOf(value, /^\d+$/.test(name) ? Number(name) : name)
    if (value === undefined) throw new TemplateError(`KeyError: '${name}'`)
  }
  return value
}
