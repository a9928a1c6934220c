/**
 * Loaded into a daemon and all it starts before anything else (`node --import`): its clock is ahead by as many milliseconds
 * as the file `CHAOS_CLOCK` says.
 */
import { readFileSync } from 'node:fs'

const LOOK_MS = 100
const System = Date
const systemNow = Date.now
let ahead = read()
setInterval(() => {
  ahead = read()
}, LOOK_MS).unref()

function read() {
  try {
    return Number(readFileSync(String(process.env.CHAOS_CLOCK), 'utf8')) || 0
  } catch {
    return 0
  }
}

class MovedDate extends System {
  /** @param {[] | [number | string | Date]} given */
  constructor(...given) {
    super(...(given.length > 0 ? given : [MovedDate.now()]))
  }

  static now() {
    return systemNow() + ahead
  }
}

globalThis.Date = Object.defineProperty(MovedDate, 'name', { value: 'Date' })
