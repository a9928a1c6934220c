import { userInfo } from 'node:os'

/**
 * Return the name of the user that runs this process; its uid where the system has no name for it (as in a container).
 */
export function currentUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'root')
  }
}
