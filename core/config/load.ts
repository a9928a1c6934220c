import { isDeepStrictEqual } from 'node:util'
import { closest } from '../base/closest.ts'
import { checkOption } from './check-option.ts'
import { readConfigFiles, type WrittenOptions } from './config-files.ts'
import { isLaterOption } from './later-options.ts'
import type { Option, OptionMap, OptionsOf, OptionTable } from './option.ts'

export interface LoadRequest<T extends OptionTable> {
  readonly table: T
  readonly confFile: string
  readonly overrides?: { readonly [K in keyof OptionsOf<T>]?: OptionsOf<T>[K] | undefined }
}

/** The options of a role, checked and with defaults, and warnings for the user. */
export interface LoadedOptions<T extends OptionTable> {
  readonly options: OptionsOf<T>
  /** Keys that were set in a file or on the command line. */
  readonly written: ReadonlySet<string>
  readonly warnings: string[]
  /** The warnings about options that are probably misspelt. */
  readonly misspelt: string[]
  /** Log lines for debugging: the files that were read, in order. */
  readonly read: readonly string[]
}

/** Load the options. Precedence: defaults < file < included files < overrides. */
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

function asWritten(overrides: OptionMap): WrittenOptions {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return {
    values: structuredClone(Object.fromEntries(given)),
    sources: new Map(given.map(([key]) => [key, 'the command line'])),
    warnings: [],
    read: [],
  }
}

/** Return the values with their types checked. An empty value counts as not set. */
function checked({ values, sources }: WrittenOptions, table: OptionTable): OptionMap {
  const used = Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => {
      const option = optionOf(table, key)
      if (!option) return [key, value]
      const normal = normalised(key, option, value)
      checkOption(key, option.schema, normal, sources.get(key) ?? 'the configuration')
      return [key, normal]
    })
  return Object.fromEntries(used)
}

function normalised(key: string, option: Option, value: unknown): unknown {
  if (option.lowercase && typeof value === 'string') return value.toLowerCase()
  // An id that consists of digits is still text.
  if (key === 'id' && (typeof value === 'number' || typeof value === 'bigint')) return String(value)
  return value
}

function optionOf(table: OptionTable, key: string): Option | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function defaultsOf(table: OptionTable): OptionMap {
  return Object.fromEntries(Object.entries(table).map(([key, option]) => [key, option.default]))
}

/** Members of the configuration that no file can set. */
const FOUND = new Set(['conf_file', 'config_dir'])

/** Return warnings about options that have no effect or are unknown. */
function remarks({ values, sources }: WrittenOptions, table: OptionTable): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const option = optionOf(table, key)
    const place = `The option ${key} in ${sources.get(key)}`
    if (option) return option.later && !isDefault(option, value) ? [`${place} has no effect yet.`] : []
    if (isLaterOption(key)) return isOff(value) ? [] : [`${place} has no effect yet.`]
    if (FOUND.has(key))
      return [`${place} has no effect: its value is the location of the configuration file.`]
    return isUnknown(key, table) && !closestTo(key, table)
      ? [`${place} is unknown. Only modules can read it.`]
      : []
  })
}

/** Return warnings about unknown options whose names are close to a known one. */
function misspellings({ values, sources }: WrittenOptions, table: OptionTable): string[] {
  return Object.keys(values).flatMap((key) => {
    const closestName = isUnknown(key, table) ? closestTo(key, table) : undefined
    return closestName
      ? [`Unknown option '${key}' in ${sources.get(key)}. Did you mean '${closestName}'?`]
      : []
  })
}

/** Whether an option is unknown. Names with a dot are settings of modules and returners, which check them. */
const isUnknown = (key: string, table: OptionTable): boolean =>
  !optionOf(table, key) && !isLaterOption(key) && !FOUND.has(key) && !key.includes('.')

/** Maximum number of typing errors in a misspelt name. With more it is another option, or one of a module: many names share long parts. */
const MISTAKES = 2

const closestTo = (key: string, table: OptionTable): string | undefined =>
  closest(key, Object.keys(table), MISTAKES)

function isDefault(option: Option, value: unknown): boolean {
  return value === null || isDeepStrictEqual(value, option.default)
}

/** Whether a value turns off an option that does not exist yet. */
const isOff = (value: unknown): boolean =>
  !value || isDeepStrictEqual(value, {}) || isDeepStrictEqual(value, [])

/** Freeze a value and everything in it. */
export function deepFreeze<T>(value: T): Readonly<T> {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}
