import { readdirSync, readFileSync } from 'node:fs'
import { isOutOfFiles } from '../base/open-files.ts'

/**
 * Whether a process of this machine computes, waits for a processor or for the disk. One that was stopped, or waits
 * for what never comes, does none of it. False where that cannot be known, unless for want of open files: then this process
 * has its troubles, and the other one is not blamed for them.
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

/** The letter after the program's name, which is in brackets and may hold some. */
function stateOf(file: string): string {
  const stat = readFileSync(file, 'latin1')
  return stat.charAt(stat.lastIndexOf(')') + 2)
}
