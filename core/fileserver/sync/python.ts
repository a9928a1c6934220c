import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeFileAtomic } from '../../base/files/atomic-file.ts'
import { shortList } from '../../base/sentence.ts'
import { PYTHON_NOT_SUPPORTED, pythonRecord, recordedPython } from '../../loader/index.ts'
import type { SyncType } from './types.ts'
import type { listSources } from './wanted.ts'

type Sources = Awaited<ReturnType<typeof listSources>>

/** Maximum number of names in a sentence. */
const MAX_NAMES = 5

/**
 * Record the Python modules of the file server that are not copied, for `sys.why`. Resolves with a sentence for each type about
 * modules that no earlier sync has reported. Modules that also exist in TypeScript or JavaScript are not counted.
 */
export async function reportPython(
  types: readonly SyncType[],
  sources: Sources,
  config: Readonly<Record<string, unknown>>,
): Promise<ReadonlyMap<string, string>> {
  const before = await recordedPython(config)
  const now: Record<string, readonly string[]> = { ...before }
  const sentences = new Map<string, string>()
  for (const type of types.filter(({ kind }) => kind !== undefined)) {
    const found = pythonIn(type, sources)
    const known = before[type.kind as string] ?? []
    const fresh = found.filter((source) => !known.includes(source))
    now[type.kind as string] = found
    if (fresh.length > 0) sentences.set(type.name, `${shortList(fresh, MAX_NAMES)}: ${PYTHON_NOT_SUPPORTED}`)
  }
  if (JSON.stringify(now) !== JSON.stringify(before)) await writeRecord(pythonRecord(config), now)
  return sentences
}

async function writeRecord(path: string, now: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFileAtomic(path, JSON.stringify(now), { mode: 0o600 })
}

function pythonIn({ folders }: SyncType, sources: Sources): string[] {
  const all = new Set(sources.map(({ source }) => source))
  const hasScript = (path: string) =>
    ['ts', 'mts', 'js', 'mjs', 'cjs'].some((ending) => all.has(`${path}.${ending}`))
  const modules = [...all].flatMap((source) => {
    const [, folder = '', name = ''] = /^_(\w+)\/([^/_.][^/.]*)\.py$/.exec(source) ?? []
    return folders.includes(folder) && !hasScript(`_${folder}/${name}`) ? [`salt://${source}`] : []
  })
  return modules.sort()
}
