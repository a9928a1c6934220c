/**
 * Manifests of the built-in extensions of a kind. The build writes them, so that extensions are listed, documented and
 * described without being read or imported.
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

export interface ManifestEntry extends SourceFacts {
  /** Size of the described file, in bytes. The entry does not apply to a file of another size. */
  readonly size: number
  readonly docs: {
    readonly module?: string | undefined
    readonly functions: Readonly<Record<string, string>>
  }
  /** Parameters of each function, by the name users call. */
  readonly params: Readonly<Record<string, Params>>
  /** The results that functions declare. */
  readonly returns: Readonly<Record<string, Param<unknown, 'value'>>>
}
type Manifest = Readonly<Record<string, ManifestEntry>>

const pathOf = (kind: Kind) => path.join(codeRoot, kind.builtIn, 'manifest.json')
const read = new Map<string, Manifest>()

/** Return the entry of a built-in file; undefined for other files, or if no entry applies. */
export function manifestEntry(kind: Kind, file: SourceFile): ManifestEntry | undefined {
  if (!file.builtIn) return undefined
  const manifest = read.get(kind.name) ?? readManifest(kind)
  read.set(kind.name, manifest)
  const entry = Object.hasOwn(manifest, file.name) ? manifest[file.name] : undefined
  return entry?.size === file.size ? entry : undefined
}

/** Return the facts about a file that are available without importing it. */
export const factsAbout = async (kind: Kind, file: SourceFile): Promise<SourceFacts> =>
  manifestEntry(kind, file) ?? readSource(file.path, file.name)

export const docsIn = ({ docs }: ManifestEntry): FileDocs => ({
  module: docs.module,
  functions: new Map(Object.entries(docs.functions)),
})

/** Read the manifest of a kind. There is none when running from the sources. */
function readManifest(kind: Kind): Manifest {
  try {
    return JSON.parse(readFileSync(pathOf(kind), 'utf8')) as Manifest
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
    const entries = await Promise.all(
      builtIn.map(async (file) => [file.name, await describe(file, kind)] as const),
    )
    await writeFile(pathOf(kind), JSON.stringify(Object.fromEntries(entries)))
  }
}

async function describe(file: SourceFile, kind: Kind): Promise<ManifestEntry> {
  const source = await readFile(file.path, 'utf8')
  const functions =
    kind.shape === 'functions' ? listFunctions(await importFile(file)) : new Map<string, never>()
  const docs = docsOf(source)
  return {
    ...sourceFacts(source, file.name),
    functions: [...functions.keys()],
    size: file.size,
    docs: { module: docs.module, functions: Object.fromEntries(docs.functions) },
    params: Object.fromEntries([...functions].map(([name, { params }]) => [name, params])),
    returns: Object.fromEntries(
      [...functions].flatMap(([name, { returns }]) => (returns ? [[name, returns]] : [])),
    ),
  }
}
