/**
 * npm packages with extensions. Their `package.json` has the directories by kind:
 * `"salt-ts": { "modules": "./dist/modules", "runners": "./dist/runners" }`.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { namesIn } from '../../base/files/names-in.ts'
import { packageRoot } from '../../process/own-package.ts'
import type { Kind } from '../kinds.ts'
import type { SearchDirectory } from './directories.ts'

/** Packages with such a name are found where they are installed; others must be listed in `plugin_packages`. */
const PLUGIN_NAME = /^salt-ts-/

/**
 * List the folders of packages: first those that the configuration lists (by name or directory), then packages `salt-ts-*` or
 * `@scope/salt-ts-*` in a `node_modules` of one of `places`, or in the one that has salt-ts itself.
 */
export function packageFolders(places: readonly string[], named: readonly string[]): readonly string[] {
  const stores = storesFor(places)
  return [
    ...new Set([...named.flatMap((name) => foldersFor(name, stores)), ...stores.flatMap(pluginPackages)]),
  ]
}

/** List the directories of one kind in packages. */
export async function packageDirectories(kind: Kind, folders: readonly string[]): Promise<SearchDirectory[]> {
  const found = await Promise.all(folders.map((folder) => directoriesOf(folder, kind)))
  return found.flat()
}

/** Return a sentence about each listed package that was not found. */
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

/** Return the `node_modules` that contains salt-ts; in a checkout, that of the checkout. */
function aroundSaltTs(): string[] {
  const above = path.dirname(packageRoot)
  return path.basename(above) === 'node_modules' ? [above] : [path.join(packageRoot, 'node_modules')]
}

function pluginPackages(store: string): string[] {
  const names = namesIn(store)
  const scoped = names
    .filter((name) => name.startsWith('@'))
    .flatMap((scope) => pluginsAmong(namesIn(path.join(store, scope))).map((name) => path.join(scope, name)))
  return [...pluginsAmong(names), ...scoped].sort().map((name) => path.join(store, name))
}

const pluginsAmong = (names: readonly string[]) => names.filter((name) => PLUGIN_NAME.test(name))

/**
 * Return the directories of a kind in a package; none if its `package.json` is unreadable or has no entry for the kind.
 */
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
