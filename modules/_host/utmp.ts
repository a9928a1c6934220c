/** Read who is logged in from the records of utmp. */
import { readFile } from 'node:fs/promises'
import { float } from './numbers.ts'

/** Records of 384 bytes: type, pid, line[32], id[4], user[32], host[256], exit, session, seconds. */
const RECORD_BYTES = 384
const USER_PROCESS = 7
const LOCAL = new Set([':0', ':0.0'])

/** List the log-ins of a file; none if it is missing. */
export async function loggedIn(path = '/var/run/utmp') {
  const data = await readFile(path).catch(() => Buffer.alloc(0))
  const users = []
  for (let at = 0; at + RECORD_BYTES <= data.length; at += RECORD_BYTES) {
    const record = data.subarray(at, at + RECORD_BYTES)
    if (record.readInt16LE(0) !== USER_PROCESS) continue
    const host = textIn(record.subarray(76, 332))
    users.push({
      name: textIn(record.subarray(44, 76)),
      terminal: textIn(record.subarray(8, 40)) || null,
      host: LOCAL.has(host) ? 'localhost' : host,
      started: float(record.readInt32LE(340)),
      pid: record.readInt32LE(4),
    })
  }
  return users
}

const textIn = (bytes: Buffer): string => bytes.toString('utf8').split('\0', 1)[0] ?? ''
