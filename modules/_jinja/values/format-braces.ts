/** Formats texts by `{}`, as Python's `str.format` does. */
import { pythonAscii, pythonRepr } from '../../_values/python.ts'
import { TemplateError } from '../errors.ts'
import { formatBySpec } from './format-spec.ts'
import type { Given } from './objects.ts'
import { elementOf } from './sequences.ts'
import { text } from './text.ts'

const FIELD = /^([^.[!:]*)((?:\.[^.[!:]+|\[[^\]]+\])*)(?:!([rsa]))?(?::([\s\S]*))?$/

/** Replace the places `{}`, `{0}`, `{name.part[0]!r:>8}`, … of a text. @throws TemplateError */
export const formatBraces = (template: string, given: Given): string =>
  new BraceFormatter(given).format(template)

class BraceFormatter {
  readonly #given: Given
  /** The number of the next place `{}`, also of one in the specification of another. */
  #next = 0
  #isNumbered = false

  constructor(given: Given) {
    this.#given = given
  }

  format(template: string): string {
    let shown = ''
    for (let at = 0; at < template.length; ) {
      const character = template[at] as string
      if (template.startsWith(character.repeat(2), at) && '{}'.includes(character)) {
        shown += character
        at += 2
      } else if (character === '{') {
        const end = endOf(template, at)
        shown += this.#field(template.slice(at + 1, end))
        at = end + 1
      } else if (character === '}') throw new TemplateError("Single '}' encountered in format string")
      else {
        shown += character
        at++
      }
    }
    return shown
  }

  #field(shown: string): string {
    const field = FIELD.exec(shown)
    if (!field) throw new TemplateError('expected }, or a field name, in format string')
    const [, name = '', path = '', conversion, spec = ''] = field
    const value = follow(this.#argument(name), path)
    return formatBySpec(converted(value, conversion), spec.includes('{') ? this.format(spec) : spec)
  }

  #argument(name: string): unknown {
    const { args, kwargs } = this.#given
    if (name !== '' && !/^\d+$/.test(name)) {
      if (!kwargs.has(name)) throw new TemplateError(`KeyError: '${name}'`)
      return kwargs.get(name)
    }
    this.#checkNumbering(name)
    const index = name === '' ? this.#next++ : Number(name)
    if (index >= args.length)
      throw new TemplateError(`Replacement index ${index} out of range for positional args tuple`)
    return args[index]
  }

  /** Places have either all a number or none. */
  #checkNumbering(name: string): void {
    if (name === '' && this.#isNumbered)
      throw new TemplateError('cannot switch from manual field specification to automatic field numbering')
    if (name !== '' && this.#next > 0)
      throw new TemplateError('cannot switch from automatic field numbering to manual field specification')
    this.#isNumbered = name !== ''
  }
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

function follow(start: unknown, path: string): unknown {
  let value = start
  for (const [step] of path.matchAll(/\.[^.[]+|\[[^\]]+\]/g)) {
    const name = step.startsWith('.') ? step.slice(1) : step.slice(1, -1)
    value = elementOf(value, /^\d+$/.test(name) ? Number(name) : name)
    if (value === undefined) throw new TemplateError(`KeyError: '${name}'`)
  }
  return value
}
