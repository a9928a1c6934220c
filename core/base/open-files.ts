import { readdirSync, readFileSync } from 'node:fs'

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

/** How many this process has open; as many as can be where that cannot be looked at, since that takes a file as well. */
export function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
