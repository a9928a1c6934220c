import { closeSync, openSync } from 'node:fs'
import { allowedOpenFiles, openFiles } from '../../base/open-files.ts'
import type { ServerSettings } from '../contract.ts'
import { Door } from './zap.ts'

/** Files that are kept for this process while it admits connections: it loads code, opens stores and starts others. */
const SPARE = 32
/** Connections come faster than they can be counted: room for those, at most and as a part of all. */
const MOST_HASTE = 256
const HASTE_PART = 8
/** How long those that are accepted already may go on taking what is given. Milliseconds. */
const QUIET_MS = 250
/** How often it is looked how many files are left: the sooner the fewer there are. Milliseconds. */
const LOOK_MS = 100
const MOST_LOOK_MS = 2_000
const FILES_PER_MS = 10

interface Limits {
  /** Files this process may have open. By default what the system says. */
  readonly allowed?: number | undefined
  readonly used?: () => number
}

/**
 * Refuse new connections when those there are have taken the files this process may open, until there is room again.
 * Without that whatever else the process does fails: those that are connected would get answers cut short, or none. Who is
 * refused comes again by itself. (libzmq that stops to listen ends all connections it has taken.) Files are counted instead of
 * connections: the thread of libzmq that serves all of them waits whenever events of a socket are not read in time, and there
 * is one for each time that a connection could not be taken.
 */
export function admitConnections(
  { onFull = () => {} }: Pick<ServerSettings, 'onFull'>,
  { allowed = allowedOpenFiles(), used = openFiles }: Limits = {},
): { close(): void } {
  if (allowed === undefined || !Number.isFinite(allowed)) return { close() {} }
  const most = allowed - Math.min(MOST_HASTE, Math.floor(allowed / HASTE_PART))
  const spare = new Spare()
  const door = new Door()

  const refuse = () => {
    door.shut()
    setTimeout(() => {
      spare.give()
      onFull(refusing(allowed))
    }, QUIET_MS).unref()
  }
  const admit = () => {
    door.open()
    spare.take()
  }
  let looking: NodeJS.Timeout
  const look = () => {
    const files = used()
    if (!door.isShut && files >= most) refuse()
    else if (door.isShut && files + SPARE < most) admit()
    const left = Math.max(0, most - files)
    looking = setTimeout(look, Math.min(MOST_LOOK_MS, LOOK_MS + left / FILES_PER_MS)).unref()
  }
  look()
  return {
    close() {
      clearTimeout(looking)
      door.close()
      spare.give()
    },
  }
}

/** Files that are open for nothing but to be closed when there are no others. */
class Spare {
  #files: number[] = []

  constructor() {
    this.take()
  }

  take(): void {
    try {
      while (this.#files.length < SPARE) this.#files.push(openSync('/dev/null', 'r'))
    } catch {
      // What there is will do.
    }
  }

  give(): void {
    for (const file of this.#files.splice(0)) closeSync(file)
  }
}

const refusing = (allowed: number): string =>
  `New connections are refused until some end: this process may open ${allowed} files, and connections have taken them. ` +
  'Set LimitNOFILE in its service unit, or run "ulimit -n" with a higher number before it is started.'
