import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CommandExecutionError } from 'salt-ts'

const load = createRequire(import.meta.url)

/**
 * Load an npm package. `import()` would fail in a bundle that runs from V8's code cache.
 * @example const { Redis } = library<typeof import('ioredis')>('redis', 'ioredis')
 * @throws CommandExecutionError with the command that installs the package if it is missing
 */
export function library<T>(module: string, name: string): T {
  try {
    return load(name) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    const installed = name.split('/')[0]
    throw new CommandExecutionError(
      `The module ${module} needs the npm package '${installed}', which is not installed here. Install it beside salt-ts: npm install ${installed}`,
    )
  }
}

/** Return the version of an npm package whose main file is beside its package.json. */
export const libraryVersion = (name: string): string =>
  (load(join(dirname(load.resolve(name)), 'package.json')) as { version: string }).version
