import { readFile } from 'node:fs/promises'
import { isPrivate } from '../names.ts'

/** Facts about a file that are available without running it. */
export interface SourceFacts {
  /** Names of the module for users; undefined if only importing shows them. */
  readonly names: readonly string[] | undefined
  /** Functions it seems to export; undefined if only importing shows them. */
  readonly functions: readonly string[] | undefined
  /** Whether it decides itself if, or with which functions, it is offered (`virtual`, `dependsOn`). */
  readonly gated: boolean
}

/** An `export` at the start of a line. */
interface Export {
  readonly name: string
  readonly local: string
  /** The text after the name, up to the end of the line. */
  readonly rest: string
  /** Position of the export; -1 in a list, where the declaration is elsewhere. */
  readonly at: number
}

/** Exports that the loader reads, unless they are made by `fn` (then they are functions for users). */
const conventions = new Set(['virtual', 'virtualName', 'virtualAliases', 'init', 'load'])

export async function readSource(path: string, name: string): Promise<SourceFacts> {
  return sourceFacts(await readFile(path, 'utf8').catch(() => ''), name)
}

/** Read names and exports from the text of a module. Members that the text does not show clearly are undefined. */
export function sourceFacts(source: string, name: string): SourceFacts {
  const exports = listExports(source)
  const has = (name: string) => exports?.some((e) => e.name === name && !isFnCall(e)) ?? true
  const functions = exports?.filter((e) => isFunction(e) && !isPrivate(e.name))
  const load = has('load') ? readLoad(source) : undefined
  const offered = load ? functions?.filter((e) => load.has(e.name) || load.has(e.local)) : functions
  return {
    names: namesOf(source, name, has),
    functions: has('load') && !load ? undefined : offered?.map((e) => e.name),
    gated: has('virtual') || has('dependsOn'),
  }
}

/** Return the names in `export const load = [ping, 'echo']`; undefined if it has another form. */
function readLoad(source: string): ReadonlySet<string> | undefined {
  const items = /^export const load\b[^=]*=\s*\[([\w$\s,'"]*)\]/m.exec(source)?.[1]
  return items === undefined ? undefined : new Set(items.match(/[\w$]+/g))
}

function namesOf(source: string, name: string, has: (name: string) => boolean): string[] | undefined {
  const own = /^export const virtualName\b[^=]*=\s*(['"`])([\w-]+)\1/m.exec(source)?.[2]
  const aliases = /^export const virtualAliases\b[^=]*=\s*\[([^\]]*)\]/m.exec(source)?.[1]
  if ((has('virtualName') && own === undefined) || (has('virtualAliases') && aliases === undefined))
    return undefined
  return [
    own ?? name,
    ...[...(aliases ?? '').matchAll(/(['"`])([\w-]+)\1/g)].map((match) => match[2] as string),
  ]
}

/** List all exports; undefined if the text does not show them clearly. */
export function listExports(source: string): Export[] | undefined {
  const unclear =
    /^export\s*\*|^export\s+(?:const|let|var)\s*[{[]|^\s*module\.exports\s*=|^[ \t]+(?:module\.)?exports\b|\bObject\.\w+\((?:module\.)?exports\b/m
  if (unclear.test(source)) return undefined
  const declared = source.matchAll(
    /^export\s+(?:async\s+)?(?:function\s*\*?|const|let|var|class)\s+([\w$]+)([^\n]*)/gm,
  )
  const assigned = source.matchAll(/^(?:module\.)?exports\.([\w$]+)(\s*=[^\n]*)/gm)
  const listed = source.matchAll(/^export\s*\{([^}]*)\}/gm)
  return [
    ...[...declared, ...assigned].map(({ 1: name = '', 2: rest = '', index: at }) => ({
      name,
      local: name,
      rest,
      at,
    })),
    ...[...listed].flatMap(([, items = '']) => items.split(',').flatMap(listedExport)),
  ]
}

/** Read an item of an export list, such as `remove as delete`. */
function listedExport(item: string): Export[] {
  const match = /^\s*([\w$]+)(?:\s+as\s+(['"]?)([\w$-]+)\2)?\s*$/.exec(
    item.replaceAll(/\/\/.*|\/\*.*?\*\//g, ''),
  )
  if (!match?.[1] || match[1] === 'type') return []
  return [{ name: match[3] ?? match[1], local: match[1], rest: '', at: -1 }]
}

const isFnCall = ({ rest }: Export) => /^[^=]*=\s*fn\b/.test(rest)

/** Whether an export may be a function: it is not clearly a value, a class or an export for the loader. */
function isFunction(e: Export): boolean {
  if (e.name === 'default') return false
  if (isFnCall(e)) return true
  if (conventions.has(e.name)) return false
  return (
    !/=\s*(?:['"`\d[{]|new\b|true\b|false\b|null\b|undefined\b|Object\b)/.test(e.rest) &&
    !/^\s*(extends\b.*)?\{/.test(e.rest)
  )
}
