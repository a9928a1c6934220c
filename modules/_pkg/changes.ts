import { CommandExecutionError } from 'salt-ts'

export type Versions = Readonly<Record<string, string>>
export type Changes = Record<string, { old: unknown; new: unknown }>

/** Compare two maps, such as package → version: what is new, gone or different. */
export function changesBetween(
  old: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): Changes {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort()
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
      .map((name) => [name, { old: old[name] ?? '', new: now[name] ?? '' }]),
  )
}

/** An error with the errors of the package manager and the changes that were made in spite of them, shown as Salt does. */
export function problem(message: string, info: Readonly<Record<string, unknown>>): CommandExecutionError {
  return new CommandExecutionError(`${message}. Additional info follows:\n\n${nested(info).join('\n')}`, info)
}

function nested(value: unknown, indent = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => listItem(item, indent))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, inner]) => [`${indent}${name}:`, ...below(inner, indent)])
  }
  return String(value)
    .split('\n')
    .map((line) => `${indent}${line}`)
}

function below(value: unknown, indent: string): string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isMap) return [`${indent}    ----------`, ...nested(value, `${indent}    `)]
  return nested(value, Array.isArray(value) ? indent : `${indent}    `)
}

const listItem = (item: unknown, indent: string): string[] =>
  String(item)
    .split('\n')
    .map((line, index) => `${indent}${index === 0 ? '    - ' : '      '}${line}`)
