/** Loading of the npm libraries of stores, which operators install when they need them. */

/**
 * Return what `load` imports. Rejects with the command that installs the library if it is missing.
 * @example const { default: pg } = await library('postgres', 'pg', () => import('pg'))
 */
export async function library<T>(returner: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(
      `The returner ${returner} needs the npm package '${name}', which is not installed here. Install it beside salt-ts: npm install ${name}`,
      { cause: error },
    )
  }
}
