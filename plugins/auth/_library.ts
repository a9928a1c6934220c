/** Loading of the npm libraries of backends, which operators install when they need them. */
import { createRequire } from 'node:module'

/**
 * Return what `load` imports. Rejects with the command that installs the library if it is missing.
 * @example const { createConnection } = await library('mysql', 'mysql2', () => import('mysql2/promise'))
 */
export async function library<T>(backend: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(missing(backend, name), { cause: error })
  }
}

/** Return a list with the error message if the library is missing, else an empty list. Does not load it. */
export function missingLibrary(backend: string, name: string): string[] {
  try {
    createRequire(import.meta.url).resolve(name)
    return []
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND' ? [missing(backend, name)] : []
  }
}

const missing = (backend: string, name: string): string =>
  `The backend ${backend} needs the npm package '${name}', which is not installed here. Install it beside salt-ts: npm install ${name}`
