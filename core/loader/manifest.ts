/**
 * What the built-in extensions of a kind offer, written when the package is built, so that they are listed, documented
 * and described without being read or imported.
 */
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Params } from '../author/params.ts'
import { docsOf, type FileDocs } from './docs.ts'
import { listFunctions } from './functions.ts'
import { importFile } from './import-file.ts'
import { indexFiles, type SourceFile } from './index-files.ts'
import { type Kind, kinds } from './kinds.ts'
import { codeRoot } from './own-package.ts'
import { readSource, type SourceFacts, sourceFacts } from './read-source.ts'

export interface ManifestEntry extends SourceFacts {
  /** Bytes of the file that was described: another size, and the entry says nothing. */
  readonly size: number
  readonly docs: {
    readonly module?: string | undefined
    readonly functions: Readonly<Record<string, string>>
  }
  /** Of each function, by the name users call. */
  readonly params: Readonly<Record<string, Params>>
}
type Manifest = Readonly<Record<string, ManifestEntry>>

const pathOf = (kind: Kind) => path.join(codeRoot, kind.builtIn, 'manifest.json')
const read = new Map<string, Manifest>()

/** The entry of a built-in file; undefined for others, or if there is none that fits. */
export function manifestEntry(kind: Kind, file: SourceFile): ManifestEntry | undefined {
  if (!file.builtIn) return undefined
  const manifest = read.get(kind.name) ?? readManifest(kind)
  read.set(kind.name, manifest)
  const entry = Object.hasOwn(manifest, file.name) ? manifest[file.name] : undefined
  return entry?.size === file.size ? entry : undefined
}

/** The facts about a file that can be found without importing it. */
export const factsAbout = async (kind: Kind, file: SourceFile): Promise<SourceFacts> =>
  manifestEntry(kind, file) ?? readSource(file.path, file.name)

export const docsIn = ({ docs }: ManifestEntry): FileDocs => ({
  module: docs.module,
  functions: new Map(Object.entries(docs.functions)),
})

/** None when run from the sources. */
function readManifest(kind: Kind): Manifest {
  try {
    return JSON.parse(readFileSync(pathOf(kind), 'utf8')) as Manifest
  } catch {
    return {}
  }
}

/** Describe every built-in file of every kind. Run by the build; rejects if one cannot be imported. */
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
  }
}
