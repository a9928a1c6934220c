import { userInfo } from 'node:os'

/** The name of whoever runs this process; the number, where the system has no name for it (as in a container). */
export function currentUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'root')
  }
}
