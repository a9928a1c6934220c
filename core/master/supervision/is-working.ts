import { readdirSync, readFileSync } from 'node:fs'
import { isOutOfFiles } from '../../process/open-files.ts'

/**
 * Whether a process of this host computes, or waits for a processor or the disk; one that is stopped or deadlocked does
 * not. False if that cannot be read, but true if this process has no file descriptor left: that is not the other one's
 * fault.
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

/** Return the state: the letter after the program's name, which stands in parentheses and may contain some. */
function stateOf(file: string): string {
  const stat = readFileSync(file, 'latin1')
  return stat.charAt(stat.lastIndexOf(')') + 2)
}
