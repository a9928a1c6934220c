/** What says that there is nothing there, or nothing that links lead to. Everything else leaves open what there is. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/**
 * A list must not look complete if it is not: minions remove what it has not. Throws what went wrong, unless something
 * is only gone.
 */
export function onlyIfGone(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined || !GONE.has(code)) throw error
  return undefined
}
