import { closest } from '../base/closest.ts'
import { checkOption } from './check-option.ts'
import { readConfigFiles, type WrittenOptions } from './config-files.ts'
import { isLaterOption } from './later-options.ts'
import type { Mapping, Option, OptionsOf, OptionTable } from './option.ts'

export interface LoadRequest<T extends OptionTable> {
  readonly table: T
  readonly confFile: string
  readonly overrides?: { readonly [K in keyof OptionsOf<T>]?: OptionsOf<T>[K] | undefined }
}

/** Options of a role with defaults for what was not written, of the right types, and what to tell the user. */
export interface LoadedOptions<T extends OptionTable> {
  readonly options: OptionsOf<T>
  /** Keys that somebody wrote, in a file or on the command line. */
  readonly written: ReadonlySet<string>
  readonly warnings: string[]
  /** Those of them about options that were most likely misspelt. */
  readonly misspelt: string[]
  /** Log lines for debugging: which files were read, in order. */
  readonly read: readonly string[]
}

/** Written → with defaults. Precedence: defaults < file < included files < overrides. */
export function loadOptions<T extends OptionTable>({
  table,
  confFile,
  overrides = {},
}: LoadRequest<T>): LoadedOptions<T> {
  const files = readConfigFiles(confFile, String(table.default_include?.default ?? ''))
  const fromFiles = checked(files, table)
  const fromCaller = checked(asWritten(overrides), table)
  const values = { ...fromFiles, ...fromCaller }
  const misspelt = misspellings(files, table)
  return {
    options: { ...defaultsOf(table), ...values } as OptionsOf<T>,
    written: new Set(Object.keys(values)),
    warnings: [...files.warnings, ...misspelt, ...remarks(files, table)],
    misspelt,
    read: files.read,
  }
}

function asWritten(overrides: Mapping): WrittenOptions {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return {
    values: structuredClone(Object.fromEntries(given)),
    sources: new Map(given.map(([key]) => [key, 'the command line'])),
    warnings: [],
    read: [],
  }
}

/** The values with a meaning, their types checked. An empty value means: as if it were not there. */
function checked({ values, sources }: WrittenOptions, table: OptionTable): Mapping {
  const meant = Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => {
      const option = optionOf(table, key)
      if (!option) return [key, value]
      const normal = normalised(key, option, value)
      checkOption(key, option.schema, normal, sources.get(key) ?? 'the configuration')
      return [key, normal]
    })
  return Object.fromEntries(meant)
}

function normalised(key: string, option: Option, value: unknown): unknown {
  if (option.lowercase && typeof value === 'string') return value.toLowerCase()
  // An id of digits is still a name.
  if (key === 'id' && (typeof value === 'number' || typeof value === 'bigint')) return String(value)
  return value
}

function optionOf(table: OptionTable, key: string): Option | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function defaultsOf(table: OptionTable): Mapping {
  return Object.fromEntries(Object.entries(table).map(([key, option]) => [key, option.default]))
}

/** Part of a configuration, and set by none. */
const FOUND = new Set(['conf_file', 'config_dir'])

/** What somebody who wrote this should know. */
function remarks({ values, sources }: WrittenOptions, table: OptionTable): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const option = optionOf(table, key)
    const place = `The option ${key} in ${sources.get(key)}`
    if (option) return option.later && !isDefault(option, value) ? [`${place} has no effect yet.`] : []
    if (isLaterOption(key)) return isOff(value) ? [] : [`${place} has no effect yet.`]
    if (FOUND.has(key)) return [`${place} has no effect: it is where the file was found.`]
    return isUnknown(key, table) && !meantBy(key, table)
      ? [`${place} is not known; only modules can see it.`]
      : []
  })
}

/** Options that are not known, and look like one that is. */
function misspellings({ values, sources }: WrittenOptions, table: OptionTable): string[] {
  return Object.keys(values).flatMap((key) => {
    const meant = isUnknown(key, table) ? meantBy(key, table) : undefined
    return meant ? [`Unknown option '${key}' in ${sources.get(key)}. Did you mean '${meant}'?`] : []
  })
}

/** Names with a dot are settings of single modules and returners, which only they know. */
const isUnknown = (key: string, table: OptionTable): boolean =>
  !optionOf(table, key) && !isLaterOption(key) && !FOUND.has(key) && !key.includes('.')

/** Names of options have long parts in common: more mistakes, and it is another option, or a module's own. */
const MISTAKES = 2

const meantBy = (key: string, table: OptionTable): string | undefined =>
  closest(key, Object.keys(table), MISTAKES)

function isDefault(option: Option, value: unknown): boolean {
  return value === null || JSON.stringify(value) === JSON.stringify(option.default)
}

/** What is not there yet is off. */
const isOff = (value: unknown): boolean =>
  !value || JSON.stringify(value) === '{}' || JSON.stringify(value) === '[]'

/** Make a value and all it holds unchangeable. */
export function deepFreeze<T>(value: T): Readonly<T> {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}
