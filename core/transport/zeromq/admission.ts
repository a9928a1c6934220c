import { closeSync, openSync } from 'node:fs'
import type { Router, Socket } from 'zeromq'
import { allowedOpenFiles, openFiles } from '../../base/open-files.ts'
import type { ServerSettings } from '../contract.ts'
import { refuseAll } from './zap.ts'

/** Files that are kept for this process while it admits connections: it loads code, opens stores and starts others. */
const SPARE = 32
/** Connections come faster than they can be counted: room for those, at most and as a part of all. */
const MOST_HASTE = 256
const HASTE_PART = 8
/** Files that refusing takes, and how long those that are accepted already may go on taking what is given. Milliseconds. */
const DOOR = 8
const QUIET_MS = 250
/** How often it is looked whether there is room again. Milliseconds. */
const LOOK_MS = 1_000

interface Limits {
  /** Files this process may have open. By default what the system says. */
  readonly allowed?: number | undefined
  readonly used?: () => number
}

/**
 * Refuse new connections when those there are have taken the files this process may open, until there is room again.
 * Without that whatever else the process does fails: those that are connected would get answers cut short, or none. Who is
 * refused comes again by itself. (libzmq cannot stop to listen while another thread uses the socket.)
 */
export function admitConnections(
  socket: Socket,
  { onFull = () => {} }: Pick<ServerSettings, 'onFull'>,
  { allowed = allowedOpenFiles(), used = openFiles }: Limits = {},
): void {
  if (allowed === undefined || !Number.isFinite(allowed)) return
  const most = allowed - Math.min(MOST_HASTE, Math.floor(allowed / HASTE_PART))
  const spare = new Spare()
  let accepted = used()
  let full: { readonly door: Router; readonly looking: NodeJS.Timeout } | undefined

  const refuse = () => {
    spare.give(DOOR)
    full = { door: refuseAll(), looking: setInterval(look, LOOK_MS).unref() }
    setTimeout(() => {
      spare.give()
      onFull(refusing(allowed))
    }, QUIET_MS).unref()
  }
  const admit = () => {
    if (!full) return
    clearInterval(full.looking)
    full.door.close()
    full = undefined
  }
  const look = () => {
    if (used() + SPARE >= most) return
    admit()
    spare.take()
  }
  const count = () => {
    if (full || ++accepted < most) return
    accepted = used()
    if (accepted >= most) refuse()
  }
  void watch(socket, count).finally(() => {
    admit()
    spare.give()
  })
}

async function watch(socket: Socket, accepted: () => void): Promise<void> {
  for await (const { type } of socket.events) if (type === 'accept' || type === 'accept:error') accepted()
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

  give(count = SPARE): void {
    for (const file of this.#files.splice(0, count)) closeSync(file)
  }
}

const refusing = (allowed: number): string =>
  `New connections are refused until some end: this process may open ${allowed} files, and connections have taken them. ` +
  'Set LimitNOFILE in its service unit, or run "ulimit -n" with a higher number before it is started.'
