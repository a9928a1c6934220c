import { dirname, resolve } from 'node:path'
import { messageOf, SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { checkOption } from './check-option.ts'
import { commonOptions } from './common-options.ts'
import { expandGlob } from './glob.ts'
import type { OptionMap } from './option.ts'
import { checkDirectory, readTrusted } from './permissions.ts'
import { parseYaml } from './yaml.ts'

/** The options in configuration files, before defaults: values, the last file that set each key, and warnings. */
export interface WrittenOptions {
  readonly values: OptionMap
  readonly sources: ReadonlyMap<string, string>
  readonly warnings: readonly string[]
  /** Log lines for debugging: the files that were read, in order, and why. */
  readonly read: readonly string[]
}

/**
 * Read `<dir>/master` (or minion), then the files of its `default_include`, then those of its `include`, each group in sorted order.
 * Later files win. Maps are merged within a group; a group as a whole replaces keys of earlier ones.
 */
export function readConfigFiles(confFile: string, defaultInclude: string): WrittenOptions {
  checkDirectory(dirname(confFile))
  const main = readFile(confFile, { trail: [] })
  if (!main)
    return {
      ...nothing,
      warnings: [`There is no configuration file ${confFile}; defaults are used.`],
      read: [`Missing configuration file: ${confFile}`],
    }

  const reading: Reading = { trail: [confFile], owner: textOf(main.values.user) }
  const after = readIncludes(main.values.default_include ?? defaultInclude, confFile, reading, {
    mayBeEmpty: true,
  })
  return inOrder([main, after, readIncludes(main.values.include, confFile, reading)])
}

interface Reading {
  /** Chain of files that include one another, outermost first. */
  readonly trail: readonly string[]
  /** User that the daemon will run as; may own included files. */
  readonly owner?: string
}

const nothing: WrittenOptions = { values: {}, sources: new Map(), warnings: [], read: [] }

/** Read one file without its includes. */
function readFile(path: string, { owner }: Reading): WrittenOptions | undefined {
  const text = readTrusted(path, owner)
  if (text === undefined) return undefined
  const values = parse(text, path)
  const sources = new Map(Object.keys(values).map((key) => [key, path]))
  return { values, sources, warnings: [], read: [`Reading configuration from ${path}`] }
}

function parse(text: string, path: string): OptionMap {
  const value = attempt(() => parseYaml(text), path) ?? {}
  if (isRecord(value)) return value
  throw invalid(path, 'it must have lines of "key: value"')
}

function attempt<T>(read: () => T, path: string): T {
  try {
    return read()
  } catch (error) {
    throw invalid(path, messageOf(error), error)
  }
}

/** Read all files that match the patterns, and merge their maps. */
function readIncludes(
  patterns: unknown,
  from: string,
  reading: Reading,
  { mayBeEmpty = false } = {},
): WrittenOptions {
  return patternsOf(patterns, from)
    .map((pattern) => {
      const paths = expandGlob(resolve(dirname(from), pattern))
      if (paths.length > 0) return paths.map((path) => readIncluded(path, reading)).reduce(merged)
      return mayBeEmpty
        ? nothing
        : { ...nothing, warnings: [`${from} includes ${pattern}, which does not exist.`] }
    })
    .reduce(merged, nothing)
}

/** Read an included file with its own includes. */
function readIncluded(path: string, { trail, owner }: Reading): WrittenOptions {
  if (trail.includes(path)) throw invalid(path, `it includes itself through ${trail.join(', ')}`)
  checkDirectory(dirname(path), owner)
  const file = readFile(path, { trail, owner }) ?? nothing
  const why = { ...nothing, read: [`Including configuration from '${path}'`] }
  return inOrder([why, file, readIncludes(file.values.include, path, { trail: [...trail, path], owner })])
}

function patternsOf(value: unknown, file: string): readonly string[] {
  if (value === undefined || value === null) return []
  checkOption('include', commonOptions.include.schema, value, file)
  return typeof value === 'string' ? [value] : (value as string[])
}

/** Combine parts; keys of later parts replace those of earlier ones. */
function inOrder(parts: readonly WrittenOptions[]): WrittenOptions {
  return parts.reduce((before, after) => combine(before, after, { ...before.values, ...after.values }))
}

function merged(before: WrittenOptions, after: WrittenOptions): WrittenOptions {
  return combine(before, after, mergeMaps(before.values, after.values))
}

function combine(before: WrittenOptions, after: WrittenOptions, values: OptionMap): WrittenOptions {
  return {
    values,
    sources: new Map([...before.sources, ...after.sources]),
    warnings: [...before.warnings, ...after.warnings],
    read: [...before.read, ...after.read],
  }
}

function mergeMaps(before: OptionMap, after: OptionMap): OptionMap {
  const common = Object.entries(after).map(([key, value]) => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    return [key, isRecord(old) && isRecord(value) ? mergeMaps(old, value) : value] as const
  })
  return { ...before, ...Object.fromEntries(common) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function invalid(file: string, reason: string, cause?: unknown): SaltError {
  return new SaltError(
    'CONFIG_INVALID',
    `The configuration file ${file} is not valid: ${reason}.`,
    { file, reason },
    { cause },
  )
}
