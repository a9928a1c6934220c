/** The author's own TypeScript: any version checks types, and those up to 6 have an API besides. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type ts from '@typescript/typescript6'
import { importModule } from '../../process/import-module.ts'
import { resolveFrom } from './resolve-from.ts'

export type CompilerApi = typeof ts

/** Packages with the API, which may be installed side by side. */
const WITH_API = ['typescript', '@typescript/typescript6']

/** Return the path of the `tsc` that is installed for a folder; undefined if none is. */
export function compilerOf(folder: string): string | undefined {
  const manifest = resolveFrom(folder, 'typescript/package.json')
  return manifest && path.join(path.dirname(manifest), 'bin', 'tsc')
}

/** Resolves with the compiler API that is installed for a folder; undefined if none is, as with TypeScript 7 alone. */
export async function compilerApiOf(folder: string): Promise<CompilerApi | undefined> {
  for (const name of WITH_API) {
    const file = resolveFrom(folder, name)
    const loaded = file === undefined ? undefined : await importModule(pathToFileURL(file).href)
    const { default: api } = (loaded ?? {}) as { readonly default?: Partial<CompilerApi> }
    if (typeof api?.createProgram === 'function') return api as CompilerApi
  }
  return undefined
}
