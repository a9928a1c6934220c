import { closeSync, openSync } from 'node:fs'
import { allowedOpenFiles, openFiles } from '../../base/open-files.ts'
import type { ServerSettings } from '../contract.ts'
import { Door } from './zap.ts'

/** Files that are kept for this process while it admits connections, at most: it loads code, opens stores and starts others. */
const MOST_SPARE = 32
const SPARE_PART = 8
/** Connections come faster than they can be counted: room for those, at most and as a part of all. */
const MOST_HASTE = 256
const HASTE_PART = 8
/** How long those that are accepted already may go on taking what is given. Milliseconds. */
const QUIET_MS = 250
/** How often it is looked how many files are left: the sooner the fewer there are. Milliseconds. */
const LOOK_MS = 100
const MOST_LOOK_MS = 2_000
const FILES_PER_MS = 10
/** After so long without a refusal it is over, and the next one is told again. Milliseconds. */
const OVER_MS = 10_000

type AdmissionSettings = Pick<ServerSettings, 'port' | 'onFull' | 'onRoom'>

interface Limits {
  /** Files this process may have open. By default what the system says. */
  readonly allowed?: number | undefined
  readonly used?: () => number
  readonly overMs?: number
}

/**
 * Refuse new connections when those there are have taken the files this process may open, until there is room again.
 * Without that whatever else the process does fails: those that are connected would get answers cut short, or none. Who is
 * refused comes again by itself. (libzmq that stops to listen ends all connections it has taken.) Files are counted instead of
 * connections: the thread of libzmq that serves all of them waits whenever events of a socket are not read in time, and there
 * is one for each time that a connection could not be taken.
 */
export function admitConnections(
  settings: AdmissionSettings,
  { allowed = allowedOpenFiles(), used = openFiles, overMs = OVER_MS }: Limits = {},
): { close(): void } {
  if (allowed === undefined || !Number.isFinite(allowed)) return { close() {} }
  const haste = Math.min(MOST_HASTE, Math.floor(allowed / HASTE_PART))
  const most = allowed - haste
  const spare = new Spare(Math.min(MOST_SPARE, Math.floor(allowed / SPARE_PART)))
  const few = most - spare.size - haste / 2
  const door = new Door()
  const told = new Told(settings, allowed, overMs)

  const refuse = () => {
    door.shut()
    told.refusing()
    setTimeout(() => spare.give(), QUIET_MS).unref()
  }
  const admit = () => {
    door.open()
    told.admitting()
    spare.take()
  }
  let looking: NodeJS.Timeout
  const look = () => {
    const files = used()
    if (!door.isShut && files >= most) refuse()
    else if (door.isShut && files < few) admit()
    const left = Math.max(0, most - files)
    looking = setTimeout(look, Math.min(MOST_LOOK_MS, LOOK_MS + left / FILES_PER_MS)).unref()
  }
  look()
  return {
    close() {
      clearTimeout(looking)
      told.close()
      door.close()
      spare.give()
    },
  }
}

/** Says when it begins and when it is over, and not each time that there is room for a moment. */
class Told {
  readonly #settings: AdmissionSettings
  readonly #allowed: number
  readonly #overMs: number
  #isTold = false
  #over: NodeJS.Timeout | undefined

  constructor(settings: AdmissionSettings, allowed: number, overMs: number) {
    this.#settings = settings
    this.#allowed = allowed
    this.#overMs = overMs
  }

  refusing(): void {
    const { port, onFull } = this.#settings
    clearTimeout(this.#over)
    if (!this.#isTold) onFull?.(refusing(port, this.#allowed))
    this.#isTold = true
  }

  admitting(): void {
    this.#over = setTimeout(() => {
      this.#isTold = false
      this.#settings.onRoom?.(`New connections to port ${this.#settings.port} are taken again.`)
    }, this.#overMs).unref()
  }

  close(): void {
    clearTimeout(this.#over)
  }
}

/** Files that are open for nothing but to be closed when there are no others. */
class Spare {
  readonly size: number
  #files: number[] = []

  constructor(size: number) {
    this.size = size
    this.take()
  }

  take(): void {
    try {
      while (this.#files.length < this.size) this.#files.push(openSync('/dev/null', 'r'))
    } catch {
      // What there is will do.
    }
  }

  give(): void {
    for (const file of this.#files.splice(0)) closeSync(file)
  }
}

const refusing = (port: number, allowed: number): string =>
  `New connections to port ${port} are refused until some end: this process may open ${allowed} files, and connections have ` +
  'taken them. Set LimitNOFILE in its service unit, or run "ulimit -n" with a higher number before it is started.'
