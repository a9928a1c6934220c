/**
 * npm packages that bring extensions. Their `package.json` says where, by kind:
 * `"salt-ts": { "modules": "./dist/modules", "runners": "./dist/runners" }`.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { SearchDirectory } from './directories.ts'
import type { Kind } from './kinds.ts'
import { packageRoot } from './own-package.ts'

/** Packages called so are found where they are installed; others must be named in `plugin_packages`. */
const TELLING_NAME = /^salt-ts-/

/**
 * Folders of one kind in packages: first those the configuration names (a name, or a directory), then what is installed
 * as `salt-ts-*` or `@scope/salt-ts-*` in a `node_modules` of one of `places` or in the one salt-ts itself lies in.
 */
export async function packageDirectories(
  kind: Kind,
  places: readonly string[],
  named: readonly string[],
): Promise<SearchDirectory[]> {
  const stores = storesFor(places)
  const telling = await Promise.all(stores.map(tellingPackages))
  const packages = [...new Set([...named.flatMap((name) => foldersFor(name, stores)), ...telling.flat()])]
  const found = await Promise.all(packages.map((folder) => directoriesOf(folder, kind)))
  return found.flat()
}

/** Sentences about packages the configuration names and that are not there. */
export function missingPackages(places: readonly string[], named: readonly string[]): string[] {
  const stores = storesFor(places)
  const missing: string[] = []
  for (const name of named) {
    const folders = foldersFor(name, stores)
    if (folders.some((folder) => existsSync(path.join(folder, 'package.json')))) continue
    const advice = isDirectoryName(name) ? '' : ` Try: npm install ${name}`
    missing.push(
      `plugin_packages names '${name}', but there is no package in ${folders.join(', ')}.${advice}`,
    )
  }
  return missing
}

const storesFor = (places: readonly string[]) => [
  ...places.map((place) => path.resolve(place, 'node_modules')),
  ...aroundSaltTs(),
]

const foldersFor = (name: string, stores: readonly string[]) =>
  isDirectoryName(name) ? [path.resolve(name)] : stores.map((store) => path.join(store, name))

const isDirectoryName = (name: string) => path.isAbsolute(name) || name.startsWith('.')

/** The `node_modules` salt-ts is installed in, beside the packages of whoever installed it. */
function aroundSaltTs(): string[] {
  const above = path.dirname(packageRoot)
  return path.basename(above) === 'node_modules' ? [above] : [path.join(packageRoot, 'node_modules')]
}

async function tellingPackages(store: string): Promise<string[]> {
  const names = await readdir(store).catch(() => [])
  const scopes = names.filter((name) => name.startsWith('@'))
  const scoped = await Promise.all(
    scopes.map(async (scope) => {
      const inside = await readdir(path.join(store, scope)).catch(() => [])
      return inside.filter((name) => TELLING_NAME.test(name)).map((name) => path.join(scope, name))
    }),
  )
  const own = names.filter((name) => TELLING_NAME.test(name))
  return [...own, ...scoped.flat()].sort().map((name) => path.join(store, name))
}

/** A package without a readable manifest, or that says nothing of this kind, brings nothing. */
async function directoriesOf(folder: string, kind: Kind): Promise<SearchDirectory[]> {
  try {
    const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >
    const declared = manifest['salt-ts'] as Readonly<Record<string, unknown>> | undefined
    return kind.folders
      .map((name) => declared?.[name])
      .filter((directory) => typeof directory === 'string')
      .map((directory) => ({
        path: path.join(folder, directory),
        origin: `package ${String(manifest.name ?? folder)}`,
        builtIn: false,
      }))
  } catch {
    return []
  }
}
