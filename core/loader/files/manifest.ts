/**
 * What the build writes about the built-in extensions of a kind, so that they are listed, documented and described without being
 * read or imported: facts that every process reads when it starts, and descriptions, twenty times as long, that few ever read.
 */
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Param, Params } from '../../author/params.ts'
import { codeRoot } from '../../process/own-package.ts'
import { docsOf, type FileDocs } from '../describe/docs.ts'
import { readSource, type SourceFacts, sourceFacts } from '../describe/read-source.ts'
import { listFunctions } from '../functions.ts'
import { type Kind, kinds } from '../kinds.ts'
import { importFile } from './import-file.ts'
import { indexFiles, type SourceFile } from './index-files.ts'

interface Facts extends SourceFacts {
  /** Size of the file, in bytes. The entry, and the description, do not apply to a file of another size. */
  readonly size: number
}

export interface FileDescription {
  readonly docs: {
    readonly module?: string | undefined
    readonly functions: Readonly<Record<string, string>>
  }
  /** Parameters of each function, by the name users call. */
  readonly params: Readonly<Record<string, Params>>
  /** The results that functions declare. */
  readonly returns: Readonly<Record<string, Param<unknown, 'value'>>>
}
/** By the name of the extension. */
type Entries<T> = Readonly<Record<string, T>>

const pathOf = (kind: Kind, name: string) => path.join(codeRoot, kind.builtIn, `${name}.json`)
const factsOfKinds = new Map<string, Entries<Facts>>()
/** Several megabytes, which are freed when they are no longer in use. */
const descriptionsOfKinds = new Map<string, WeakRef<Entries<FileDescription>>>()

/** Return the description of a built-in file; undefined for other files, or if none applies. */
export const descriptionOf = (kind: Kind, file: SourceFile): FileDescription | undefined =>
  factsOf(kind, file) && own(descriptionsOf(kind), file.name)

/** Return the facts about a file that are available without importing it. */
export const factsAbout = async (kind: Kind, file: SourceFile): Promise<SourceFacts> =>
  factsOf(kind, file) ?? readSource(file.path, file.name)

export const docsIn = ({ docs }: FileDescription): FileDocs => ({
  module: docs.module,
  functions: new Map(Object.entries(docs.functions)),
})

function factsOf(kind: Kind, file: SourceFile): Facts | undefined {
  if (!file.builtIn) return undefined
  const entries = factsOfKinds.get(kind.name) ?? read<Entries<Facts>>(kind, 'manifest')
  factsOfKinds.set(kind.name, entries)
  const found = own(entries, file.name)
  return found?.size === file.size ? found : undefined
}

const own = <T>(entries: Entries<T>, name: string): T | undefined =>
  Object.hasOwn(entries, name) ? entries[name] : undefined

function descriptionsOf(kind: Kind): Entries<FileDescription> {
  const known = descriptionsOfKinds.get(kind.name)?.deref()
  if (known) return known
  const entries = read<Entries<FileDescription>>(kind, 'descriptions')
  descriptionsOfKinds.set(kind.name, new WeakRef(entries))
  return entries
}

/** Read what the build has written about a kind: nothing when running from the sources. */
function read<T extends Entries<unknown>>(kind: Kind, name: string): T | Record<string, never> {
  try {
    return JSON.parse(readFileSync(pathOf(kind, name), 'utf8')) as T
  } catch {
    return {}
  }
}

/** Describe all built-in files of all kinds. Called by the build; rejects if one cannot be imported. */
export async function writeManifests(): Promise<void> {
  for (const kind of kinds.values()) {
    const { files } = await indexFiles(kind, {})
    const builtIn = files.filter((file) => file.builtIn)
    if (builtIn.length === 0) continue
    const described = await Promise.all(
      builtIn.map(async (file) => [file.name, await describe(file, kind)] as const),
    )
    const all = (part: 'facts' | 'description') =>
      JSON.stringify(Object.fromEntries(described.map(([name, parts]) => [name, parts[part]])))
    await writeFile(pathOf(kind, 'manifest'), all('facts'))
    await writeFile(pathOf(kind, 'descriptions'), all('description'))
  }
}

async function describe(
  file: SourceFile,
  kind: Kind,
): Promise<{ facts: Facts; description: FileDescription }> {
  const source = await readFile(file.path, 'utf8')
  const functions =
    kind.shape === 'functions' ? listFunctions(await importFile(file)) : new Map<string, never>()
  const docs = docsOf(source)
  const facts = { ...sourceFacts(source, file.name), functions: [...functions.keys()], size: file.size }
  const description = {
    docs: { module: docs.module, functions: Object.fromEntries(docs.functions) },
    params: Object.fromEntries([...functions].map(([name, { params }]) => [name, params])),
    returns: Object.fromEntries(
      [...functions].flatMap(([name, { returns }]) => (returns ? [[name, returns]] : [])),
    ),
  }
  return { facts, description }
}
