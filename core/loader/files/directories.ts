import path from 'node:path'
import { codeRoot } from '../../process/own-package.ts'
import type { Kind } from '../kinds.ts'
import { missingPackages, packageDirectories, packageFolders } from './packages.ts'

type Config = Readonly<Record<string, unknown>>

export interface SearchDirectory {
  readonly path: string
  readonly builtIn: boolean
  /** The reason why it is searched: a configuration option, `package NAME`, or `built in`. */
  readonly origin: string
}

/**
 * List the directories that are searched for a kind, the first wins: those inside `module_dirs` (`-m`), `extension_modules`,
 * `<kind>_dirs`, npm packages, built in. This is the order of Salt 3006, where packages are entry points. With
 * `features: {enable_deprecated_module_search_path_priority: true}` it is that of Salt before 3006.7: `extension_modules`
 * come after packages. For several kinds, give the packages of the configuration ({@link configuredPackages}): each search for
 * them reads the whole `node_modules`.
 */
export async function searchDirectories(
  kind: Kind,
  config: Config,
  packages?: readonly string[],
): Promise<SearchDirectory[]> {
  const { shared, synced } = placesIn(config)
  const from = (origin: string, paths: readonly string[]) =>
    paths.map((given) => ({ path: path.resolve(given), origin, builtIn: false }))
  const given = from(
    'module_dirs',
    shared.flatMap((directory) => inside(directory, kind)),
  )
  const fetched = from(
    'extension_modules',
    synced.flatMap((directory) => kind.folders.map((f) => path.join(directory, f))),
  )
  const further = [
    ...from(kind.dirsKey, stringsIn(config[kind.dirsKey])),
    ...(await packageDirectories(kind, packages ?? configuredPackages(config))),
  ]
  const found = [
    ...given,
    ...(asBefore(config) ? [...further, ...fetched] : [...fetched, ...further]),
    { path: path.join(codeRoot, kind.builtIn), origin: 'built in', builtIn: true },
  ]
  return found.filter((one, index) => found.findIndex((other) => other.path === one.path) === index)
}

/** List the folders of the packages in which extensions are searched. */
export function configuredPackages(config: Config): readonly string[] {
  const { shared, synced } = placesIn(config)
  return packageFolders([...shared, ...synced], stringsIn(config.plugin_packages))
}

function asBefore({ features }: Config): boolean {
  const key = 'enable_deprecated_module_search_path_priority'
  return typeof features === 'object' && features !== null && Reflect.get(features, key) === true
}

/** Return a sentence about each package in the configuration that was not found. */
export function missingPackageWarnings(config: Config): string[] {
  const { shared, synced } = placesIn(config)
  return missingPackages([...shared, ...synced], stringsIn(config.plugin_packages))
}

/** Return the directories that have a subdirectory for each kind. */
const placesIn = (config: Config) => ({
  shared: [...stringsIn(config.module_dirs)].reverse(),
  synced: stringsIn(config.extension_modules).slice(0, 1),
})

/** Return the directories of a kind inside one: `<dir>/modules`, or Salt's file server name `<dir>/_modules`. */
function inside(directory: string, kind: Kind): string[] {
  return kind.folders.flatMap((folder) => [path.join(directory, folder), path.join(directory, `_${folder}`)])
}

export function stringsIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  return list.filter((item): item is string => typeof item === 'string' && item !== '')
}
