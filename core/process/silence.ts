import { readdirSync, readFileSync } from 'node:fs'
import { isOutOfFiles } from './open-files.ts'

/** What a process does now, and what it has done. */
export interface ProcessWork {
  /** Whether it computes, or waits for a processor or the disk; a stopped or deadlocked process does not. */
  readonly isWorking: boolean
  /** Processor time of all its threads since its start, in milliseconds. */
  readonly usedMs: number
}

/** A process that nothing is known of counts as idle. */
export const UNKNOWN_WORK: ProcessWork = { isWorking: false, usedMs: 0 }

/** Linux reports processor time in these units to every program. */
const MS_PER_TICK = 10

/**
 * Read what a process of this host does. It counts as idle if that cannot be read, but as working if this process has no file
 * descriptor left, which proves nothing about the other one.
 */
export function workOf(pid: number | undefined): ProcessWork {
  if (pid === undefined) return UNKNOWN_WORK
  try {
    const threads = `/proc/${pid}/task`
    const fields = statOf(`/proc/${pid}`)
    return {
      isWorking: readdirSync(threads).some((thread) => 'RD'.includes(stateOf(`${threads}/${thread}`))),
      usedMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
    }
  } catch (error) {
    return { isWorking: isOutOfFiles(error), usedMs: 0 }
  }
}

const stateOf = (directory: string): string => statOf(directory)[0] ?? ''

/** Return the fields after the program's name, which is in parentheses and may itself contain parentheses. */
function statOf(directory: string): string[] {
  const stat = readFileSync(`${directory}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/**
 * The silence of a process that should answer. On a starved machine a process that is well is silent for long, so its idle time and
 * its processor time are measured, not the time of day.
 */
export class Silence {
  #idleMs = 0
  #usedAtFirst: number | undefined
  #usedMs = 0

  /** Add `ms` milliseconds of silence, at whose end the process does this. */
  add(ms: number, { isWorking, usedMs }: ProcessWork): void {
    if (!isWorking) this.#idleMs += ms
    this.#usedAtFirst ??= usedMs
    this.#usedMs = usedMs - this.#usedAtFirst
  }

  /** How long the process has been silent and idle, in milliseconds. */
  get idleMs(): number {
    return this.#idleMs
  }

  /** Processor time that the process has used since the first call of {@link add}, in milliseconds. */
  get usedMs(): number {
    return this.#usedMs
  }
}
