/** Reads the documentation of a folder of extensions. Its files are imported, since only that shows parameters. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { Params } from '../../author/params.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import { readDocs } from '../../loader/describe/docs.ts'
import { importFile, type Namespace } from '../../loader/files/import-file.ts'
import { listFolder } from '../../loader/files/index-files.ts'
import { listFunctions, plainParams } from '../../loader/functions.ts'
import { type Kind, kinds } from '../../loader/kinds.ts'
import { LOAD_MS } from '../../loader/loader.ts'
import { namesOf } from '../../loader/offer/virtual.ts'
import type { DocumentedFile, DocumentedFunction } from './function-page.ts'

export interface DocumentedFolder {
  readonly files: readonly DocumentedFile[]
  /** Why files are left out. */
  readonly unread: readonly string[]
}

/** The folder of each kind of extension. */
export type KindFolders = readonly (readonly [kind: Kind, folder: string])[]

/** Find the folders of extensions in a folder, or on a file server (`_modules`). Without any it is one of modules itself. */
export async function kindFoldersIn(folder: string): Promise<KindFolders> {
  const found: [Kind, string][] = []
  for (const kind of kinds.values())
    for (const name of kind.folders.flatMap((one) => [one, `_${one}`])) {
      const inner = path.join(folder, name)
      const isFolder = (await stat(inner).catch(() => undefined))?.isDirectory()
      if (isFolder && kind.name !== 'utils') found.push([kind, inner])
    }
  return found.length > 0 ? found : [[kinds.get('modules') as Kind, folder]]
}

/** Read all files of these folders that offer something to users, sorted by the names that users have for them. */
export async function documentedFolders(
  folders: KindFolders,
  { builtIn = false, loadMs = LOAD_MS } = {},
): Promise<DocumentedFolder> {
  const files: DocumentedFile[] = []
  const unread: string[] = []
  for (const [kind, folder] of folders) {
    const found = listFolder(folder).map(async ({ name, candidates: [file] }) => {
      if (!file) return []
      return importInTime({ path: file.path, builtIn }, loadMs)
        .then((namespace) => documentedFile(kind, name, file.path, namespace))
        .catch((error: unknown) => {
          unread.push(messageOf(error))
          return []
        })
    })
    files.push(...(await Promise.all(found)).flat().sort(byNames))
  }
  return { files, unread }
}

const byNames = (a: DocumentedFile, b: DocumentedFile): number => (a.names.join() < b.names.join() ? -1 : 1)

async function documentedFile(
  kind: Kind,
  file: string,
  source: string,
  namespace: Namespace,
): Promise<DocumentedFile[]> {
  const docs = await readDocs(source)
  const about = { kind: kind.name, file, doc: docs.module }
  if (kind.shape === 'plugin') {
    const options = optionsOf(namespace.default)
    return [{ ...about, names: [file], functions: [], ...(options && { options }) }]
  }
  const names = namesOf(namespace, file)
  const functions = [...listFunctions(namespace)].map(([own, { params, returns }]): DocumentedFunction => {
    const signature = { params: params === plainParams ? null : params, returns }
    return { name: `${names[0]}.${own}`, doc: docs.functions.get(own), signature }
  })
  return functions.length === 0 ? [] : [{ ...about, names, functions: functions.sort(byName) }]
}

/** Import a file. Rejects if it does not finish loading in time. */
function importInTime(file: Parameters<typeof importFile>[0], ms: number): Promise<Namespace> {
  const late = () =>
    new Error(
      `${file.path}: did not finish loading within ${ms / 1000} s; does it wait for something at its top level?`,
    )
  return withTimeout(importFile(file), ms, late)
}

const byName = (a: DocumentedFunction, b: DocumentedFunction): number => (a.name < b.name ? -1 : 1)

const optionsOf = (plugin: unknown): Params | undefined =>
  isRecord(plugin) && isRecord(plugin.options) ? (plugin.options as Params) : undefined
