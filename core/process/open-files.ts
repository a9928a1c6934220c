import { readdirSync, readFileSync, statSync } from 'node:fs'

/** Return the maximum number of open files of this process (RLIMIT_NOFILE), including connections; undefined if unknown. */
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
 * Return the number of open files of this process; infinite if it cannot be read. Before Linux 6.2 reading it needs a file
 * descriptor, so it fails when the limit is reached.
 */
export function openFiles(): number {
  try {
    return statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length - 1
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])

/** Whether an error means that no file descriptor was left, so that the operation says nothing about the file. */
export const isOutOfFiles = (error: unknown): boolean =>
  CODES.has((error as NodeJS.ErrnoException | undefined)?.code)
