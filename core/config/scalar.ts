/**
 * The type of a plain YAML scalar: YAML 1.1 as PyYAML reads it, with Salt's change that a leading zero does not make a number octal
 * (`0755` is 755). Dates stay text.
 */
export interface ScalarKind {
  readonly tag: string
  readonly test: RegExp
  resolve(text: string): unknown
}

export const FLOAT = 'tag:yaml.org,2002:float'

export const scalarKinds: readonly ScalarKind[] = [
  { tag: 'tag:yaml.org,2002:null', test: /^(?:~|null|Null|NULL|)$/, resolve: () => null },
  {
    tag: 'tag:yaml.org,2002:bool',
    test: /^(?:(?:yes|Yes|YES|true|True|TRUE|on|On|ON)|(?:no|No|NO|false|False|FALSE|off|Off|OFF))$/,
    resolve: (text) => /^(?:yes|true|on)$/i.test(text),
  },
  {
    tag: 'tag:yaml.org,2002:int',
    test: /^(?:[-+]?0b[01_]+|[-+]?0x[\da-fA-F_]+|[-+]?0[0-7_]*|[-+]?[1-9][\d_]*(?::[0-5]?\d)*)$/,
    resolve: toInteger,
  },
  {
    tag: FLOAT,
    test: /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
    resolve: toFloat,
  },
]

/** Return the value of a plain scalar. */
export function resolvePlain(text: string): unknown {
  const kind = scalarKinds.find(({ test }) => test.test(text))
  return kind ? kind.resolve(text) : text
}

function toInteger(text: string): number | bigint {
  const digits = text.replaceAll('_', '')
  const sign = digits.startsWith('-') ? -1n : 1n
  const body = digits.replace(/^[-+]/, '')
  const value = sign * magnitude(body, body !== digits)
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function magnitude(body: string, signed: boolean): bigint {
  if (/^0[bx]/.test(body)) return BigInt(body)
  if (body.includes(':')) return sexagesimal(body, BigInt, 60n)
  // Salt drops leading zeros only at the very start of the text, so a signed number stays octal.
  if (signed && /^0[0-7]/.test(body)) return BigInt(`0o${body.slice(1)}`)
  return BigInt(body)
}

function toFloat(text: string): number {
  const digits = text.replaceAll('_', '').toLowerCase()
  const sign = digits.startsWith('-') ? -1 : 1
  const body = digits.replace(/^[-+]/, '')
  if (body === '.inf') return sign * Number.POSITIVE_INFINITY
  if (body === '.nan') return Number.NaN
  return sign * sexagesimal(body, Number, 60)
}

/** Parse groups of sixty, most significant first: `1:30` is 90. */
function sexagesimal<T extends number | bigint>(body: string, parse: (text: string) => T, base: T): T {
  return body
    .split(':')
    .map(parse)
    .reduce((sum, group) => ((sum as number) * (base as number) + (group as number)) as T)
}
