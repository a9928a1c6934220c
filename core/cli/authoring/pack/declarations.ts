/** Declarations of a package, by which TypeScript checks `call()` for those who install it. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { messageOf, SaltError } from '../../../base/errors.ts'
import { catalogueOf } from '../catalogue.ts'
import { compilerOf } from '../compiler.ts'
import { writeTypes } from '../write-types.ts'

/** Folder of the declarations in the package. */
export const TYPES = 'types'
const CATALOGUE = '_catalogue.d.ts'

/** Whether a folder has modules in TypeScript. */
export const hasTypes = async (folder: string): Promise<boolean> =>
  (await catalogueOf(folder)).names.length > 0

/**
 * Let the project's own TypeScript check it and write its declarations to the folder `types` of a package, with the catalogue of
 * its modules. Returns the path of the catalogue in the package. Rejects if a type is wrong.
 */
export async function writeDeclarations(folder: string, modules: string, stage: string): Promise<string> {
  const inner = path.join(folder, modules)
  await writeTypes(inner)
  await compile(folder, path.join(stage, TYPES))
  const catalogue = path.join(TYPES, modules, CATALOGUE)
  await cp(path.join(inner, CATALOGUE), path.join(stage, catalogue))
  return catalogue
}

/** Return what is missing to write declarations. */
export function missingForTypes(folder: string): string | undefined {
  if (compilerOf(folder) === undefined) return 'npm install --save-dev typescript @types/node'
  return existsSync(path.join(folder, 'tsconfig.json')) ? undefined : 'a tsconfig.json'
}

async function compile(folder: string, out: string): Promise<void> {
  const settings = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    composite: false,
    rootDir: folder,
    outDir: out,
  }
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const compiler = [compilerOf(folder) as string, '-p', folder, ...words]
  await promisify(execFile)(process.execPath, compiler, { cwd: folder }).catch((error: unknown) => {
    const said = (error as { readonly stdout?: string }).stdout?.trim() || messageOf(error)
    throw new SaltError('INVOCATION', `TypeScript finds errors, so nothing is packed:\n${said}`, { folder })
  })
}
