/** Functions that a file calls or depends on by name. */
import { closest } from '../../base/closest.ts'
import { isRecord } from '../../base/record.ts'
import type { ExtensionFiles } from '../describe/extension-files.ts'
import type { Namespace } from '../files/import-file.ts'
import { factsAbout } from '../files/manifest.ts'
import { type Finding, finding } from './rules.ts'
import type { SourceText } from './source-text.ts'

/** The names of all functions of a kind, also of those that are not offered on this host. */
export type KnownFunctions = ReadonlySet<string>

/** List the functions of all files as their text shows them; undefined if one does not show its names or functions. */
export async function knownFunctions(catalog: ExtensionFiles): Promise<KnownFunctions | undefined> {
  const known = new Set<string>()
  for (const file of await catalog.files()) {
    const { names, functions } = await factsAbout(catalog.kind, file)
    if (!names || !functions) return undefined
    for (const name of names) for (const own of functions) known.add(`${name}.${own}`)
  }
  return known
}

const CALL = /(?<![\w$])call\s*\(\s*(?=['"])/g
const NAME = /^[\w-]+\.[\w-]+$/

export function callFindings(source: SourceText, known: KnownFunctions): Finding[] {
  return source.matches(CALL).flatMap((match) => {
    const at = match.index + match[0].length
    const name = source.stringAt(at) ?? ''
    return NAME.test(name) && !known.has(name)
      ? [finding('unknown-call', source.place(at), unknown(name, known))]
      : []
  })
}

/** Check the functions that `dependsOn` names. */
export function dependencyFindings(
  source: SourceText,
  { dependsOn }: Namespace,
  known: KnownFunctions,
): Finding[] {
  const names = [dependsOn].flat().flatMap((one) => (isRecord(one) ? [one.function].flat() : []))
  return names.flatMap((name) =>
    typeof name === 'string' && !known.has(name)
      ? [finding('unknown-call', source.place(source.literalAt(name)), unknown(name, known))]
      : [],
  )
}

/** Return a sentence about a function that is nowhere. */
export function unknown(name: string, known: KnownFunctions): string {
  const nearest = closest(name, known)
  const advice =
    nearest === undefined
      ? `write untyped('${name}') if another file of the minions provides it`
      : `did you mean '${nearest}'?`
  return `There is no function '${name}' here, nor in salt-ts; ${advice}${nearest === undefined ? '.' : ''}`
}
