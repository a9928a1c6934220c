import { readFile } from 'node:fs/promises'

/**
 * Return when a process started: the boot id of the machine, and the clock ticks since boot. Undefined if it has ended.
 */
export async function bornAt(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return `${boot.trim()}/${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return undefined
  }
}
