import { readdirSync, readFileSync, statSync } from 'node:fs'

/** How many files this process may have open (RLIMIT_NOFILE), connections among them; undefined where the system does not tell. */
export function allowedOpenFiles(): number | undefined {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/**
 * How many this process has open. Before Linux 6.2 it takes a file to see that, so where it cannot be seen there are as many
 * as can be.
 */
export function openFiles(): number {
  try {
    return statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length - 1
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])

/** Whether something failed because no file was left to open: what there is to see was not seen then. */
export const isOutOfFiles = (error: unknown): boolean =>
  CODES.has((error as NodeJS.ErrnoException | undefined)?.code)
