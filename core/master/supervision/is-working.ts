import { readdirSync, readFileSync } from 'node:fs'
import { isOutOfFiles } from '../../process/open-files.ts'

/**
 * Whether a process of this host computes, or waits for a processor or the disk; a stopped or deadlocked process does not.
 * False if its state cannot be read, but true if this process has no file descriptor left, which proves nothing about the
 * other one.
 */
export function isWorking(pid: number | undefined): boolean {
  if (pid === undefined) return false
  try {
    const threads = `/proc/${pid}/task`
    return readdirSync(threads).some((thread) => 'RD'.includes(stateOf(`${threads}/${thread}/stat`)))
  } catch (error) {
    return isOutOfFiles(error)
  }
}

/** Return the state: the letter after the program's name, which is in parentheses and may itself contain parentheses. */
function stateOf(file: string): string {
  const stat = readFileSync(file, 'latin1')
  return stat.charAt(stat.lastIndexOf(')') + 2)
}
