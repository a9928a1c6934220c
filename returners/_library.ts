/** The npm libraries of stores are installed by those who use them. */

/**
 * What `load` imports. Rejects with the line that installs it if it is not there.
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
