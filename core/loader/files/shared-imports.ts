/** Resolves `import … from '#utils/text.ts'`: files of the kind `utils`, which modules and plugins of all kinds share. */
import module from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Kind, kinds } from '../kinds.ts'
import { searchDirectories, stringsIn } from './directories.ts'
import { installResolveHook, type Resolve } from './resolve-hook.ts'

type Config = Readonly<Record<string, unknown>>

interface Shared {
  /** URLs of directories, each with a slash at its end; the first that has the file wins. */
  readonly folders: readonly string[]
  /** Names that the configuration excludes (`disable_utils`). */
  readonly disabled: readonly string[]
}

/**
 * Make Node's resolve hook for `#utils/…`. Like that of {@link installResolveHook} it is passed on as text, so it may use
 * nothing from outside itself. A package keeps its own imports of that name. If no directory has the file, the `imports` of
 * the nearest `package.json` apply, as they do in an author's editor and tests.
 */
function makeResolve({ folders, disabled }: Shared): Resolve {
  const { existsSync } = process.getBuiltinModule('node:fs')
  return (specifier, context, next) => {
    const path = specifier.startsWith('#utils/') ? specifier.slice('#utils/'.length) : ''
    const isOfPackage = context.parentURL?.includes('/node_modules/')
    if (path === '' || isOfPackage) return next(specifier, context)
    const searched = disabled.includes(path.replace(/[/.].*/, '')) ? [] : folders
    const url = searched
      .map((folder) => `${folder}${encodeURI(path)}`)
      .find((file) => existsSync(new URL(file)))
    if (url !== undefined) return next(url, context)
    const explain = (error: unknown): never => {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_IMPORT_NOT_DEFINED') throw error
      throw new Error(
        `There is no ${specifier}: sync it with saltutil.sync_utils, or add its directory to utils_dirs. Searched: ${folders.join(', ')}`,
      )
    }
    try {
      const resolved = next(specifier, context)
      return resolved instanceof Promise ? resolved.catch(explain) : resolved
    } catch (error) {
      return explain(error)
    }
  }
}

const installed = new Map<string, Promise<void>>()

/** Make the `utils` of a configuration available to files that are imported from now on. */
export function shareImports(config: Config): Promise<void> {
  const { module_dirs, extension_modules, utils_dirs, plugin_packages, features, disable_utils } = config
  const key = JSON.stringify([
    module_dirs,
    extension_modules,
    utils_dirs,
    plugin_packages,
    features,
    disable_utils,
  ])
  const known = installed.get(key) ?? install(config)
  installed.set(key, known)
  return known
}

async function install(config: Config): Promise<void> {
  const directories = await searchDirectories(kinds.get('utils') as Kind, config)
  const folders = directories.filter(({ builtIn }) => !builtIn).map(({ path }) => `${pathToFileURL(path)}/`)
  const shared: Shared = { folders, disabled: stringsIn(config.disable_utils) }
  installResolveHook() // must precede the hook below, since it distinguishes generations
  const inThread = (module as { registerHooks?: (hooks: { resolve: Resolve }) => void }).registerHooks
  if (inThread) return inThread({ resolve: makeResolve(shared) })
  // TypeScript loaders such as tsx wrap functions in calls of `__name`.
  const source = `const __name = (f) => f; export const resolve = (${makeResolve})(${JSON.stringify(shared)})`
  module.register(`data:text/javascript,${encodeURIComponent(source)}`)
}
