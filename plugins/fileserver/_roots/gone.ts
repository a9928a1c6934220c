/** Error codes for a missing file or a link that leads nowhere. All other errors leave open whether the file exists. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/**
 * Rethrow the error unless it only says that the file is gone. An incomplete file list must not look complete: minions delete
 * files that it lacks.
 */
export function onlyIfGone(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined || !GONE.has(code)) throw error
  return undefined
}
