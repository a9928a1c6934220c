import { closeSync, openSync } from 'node:fs'
import { allowedOpenFiles, openFiles } from '../process/open-files.ts'
import type { ServerSettings } from './contract.ts'

/**
 * File descriptors reserved while connections are admitted: the process loads code, opens stores and starts others. At
 * most this many, and this fraction of the limit.
 */
const MAX_SPARE_FILES = 32
const SPARE_FRACTION = 8
/**
 * File descriptors reserved for connections that arrive between two checks. At most this many, and this fraction of the
 * limit.
 */
const MAX_RESERVE = 256
const RESERVE_FRACTION = 8
/** How long to hold the reserve after refusing starts, since connections in the kernel's queue still take descriptors. */
const QUIET_MS = 250
/** Interval of checks: the fewer descriptors are left, the shorter. */
const MIN_CHECK_MS = 100
const MAX_CHECK_MS = 2_000
const FILES_PER_MS = 10
/** After this time without a refusal the overload is over, and the next one is reported again. */
const OVER_MS = 10_000

type AdmissionSettings = Pick<ServerSettings, 'port' | 'onConnectionsRefused' | 'onConnectionsAccepted'>

/** Refuses new connections while `isRefusing`. */
interface Gate {
  readonly isRefusing: boolean
  refuse(): void | Promise<void>
  accept(): void
  close(): void
}

interface Limits {
  /** Maximum open files of this process. Default: the system's limit. */
  readonly allowed?: number | undefined
  readonly used?: () => number
  readonly overMs?: number
}

/**
 * Refuse new connections while the present ones use up the files this process may open. Otherwise everything else the
 * process does would fail, and connected peers would get partial answers or none. Refused peers retry by themselves.
 * (If libzmq stopped listening, it would end all accepted connections.) Open files are counted instead of connections
 * because libzmq's I/O thread blocks whenever socket events are not read in time, and each failed accept is such an
 * event.
 */
export function admitConnections(
  settings: AdmissionSettings,
  openGate: () => Gate,
  { allowed = allowedOpenFiles(), used = openFiles, overMs = OVER_MS }: Limits = {},
): { close(): void } {
  if (allowed === undefined || !Number.isFinite(allowed)) return { close() {} }
  const reserve = Math.min(MAX_RESERVE, Math.floor(allowed / RESERVE_FRACTION))
  const refuseAt = allowed - reserve
  const spare = new SpareFiles(Math.min(MAX_SPARE_FILES, Math.floor(allowed / SPARE_FRACTION)))
  const admitBelow = refuseAt - spare.size - reserve / 2
  const gate = openGate()
  const notice = new OverloadNotice(settings, allowed, overMs)

  const refuse = () => {
    void gate.refuse()
    notice.refusing()
    setTimeout(() => spare.release(), QUIET_MS).unref()
  }
  const admit = () => {
    gate.accept()
    notice.admitting()
    spare.open()
  }
  let timer: NodeJS.Timeout
  const check = () => {
    const files = used()
    if (!gate.isRefusing && files >= refuseAt) refuse()
    else if (gate.isRefusing && files < admitBelow) admit()
    const left = Math.max(0, refuseAt - files)
    timer = setTimeout(check, Math.min(MAX_CHECK_MS, MIN_CHECK_MS + left / FILES_PER_MS)).unref()
  }
  check()
  return {
    close() {
      clearTimeout(timer)
      notice.close()
      gate.close()
      spare.release()
    },
  }
}

/** Reports when an overload begins and ends, but no short pauses in between. */
class OverloadNotice {
  readonly #settings: AdmissionSettings
  readonly #allowed: number
  readonly #overMs: number
  #isReported = false
  #endTimer: NodeJS.Timeout | undefined

  constructor(settings: AdmissionSettings, allowed: number, overMs: number) {
    this.#settings = settings
    this.#allowed = allowed
    this.#overMs = overMs
  }

  refusing(): void {
    const { port, onConnectionsRefused } = this.#settings
    clearTimeout(this.#endTimer)
    if (!this.#isReported) onConnectionsRefused?.(refusing(port, this.#allowed))
    this.#isReported = true
  }

  admitting(): void {
    this.#endTimer = setTimeout(() => {
      this.#isReported = false
      this.#settings.onConnectionsAccepted?.(
        `New connections to port ${this.#settings.port} are accepted again.`,
      )
    }, this.#overMs).unref()
  }

  close(): void {
    clearTimeout(this.#endTimer)
  }
}

/** Open files kept in reserve, to be closed when no others are left. */
class SpareFiles {
  readonly size: number
  #files: number[] = []

  constructor(size: number) {
    this.size = size
    this.open()
  }

  open(): void {
    try {
      while (this.#files.length < this.size) this.#files.push(openSync('/dev/null', 'r'))
    } catch {
      // Keep those that could be opened.
    }
  }

  release(): void {
    for (const file of this.#files.splice(0)) closeSync(file)
  }
}

const refusing = (port: number, allowed: number): string =>
  `New connections to port ${port} are refused until some end: this process may open ${allowed} files, and connections have ` +
  'taken them. Set LimitNOFILE in its service unit, or run "ulimit -n" with a higher number before you start it.'
