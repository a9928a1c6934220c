import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * A process, told from another one that has the same number later, in another start of the machine or another container.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** When it began: the id of the machine's start, and the clock ticks since. Undefined where there is no /proc. */
  readonly born?: string
  /** The value of {@link PROCESS_TOKEN} in the environment it was started with, where it was given one. */
  readonly token?: string
}

/** In the environment of processes that are recognised later. They delete it, so that what they start has none. */
export const PROCESS_TOKEN = 'SALT_TS_PROCESS'

/** `prefix`: of all that one program starts, to find them by. */
export const newProcessToken = (prefix = ''): string => prefix + randomBytes(12).toString('hex')

/** Processes that were given a token with this prefix, with their titles. */
export function processesOf(prefix: string): { identity: ProcessIdentity; title: string }[] {
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return pids.flatMap((pid) => {
    const start = `${PROCESS_TOKEN}=`
    const token = read(`/proc/${pid}/environ`)
      ?.split('\0')
      .find((variable) => variable.startsWith(start + prefix))
      ?.slice(start.length)
    if (token === undefined) return []
    const title = read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? ''
    return [{ identity: identityOf(Number(pid), token), title }]
  })
}

/** Identify the process that has this pid now; without `born` if there is none. */
export function identityOf(pid: number, token?: string): ProcessIdentity {
  const born = bornAt(pid)
  return { pid, ...(born !== undefined && { born }), ...(token !== undefined && { token }) }
}

/** Whether it still runs. One of which only the number is known counts as over: the number may be somebody else's. */
export function isRunning({ pid, born, token }: ProcessIdentity): boolean {
  return born !== undefined && born === bornAt(pid) && (token === undefined || hasToken(pid, token))
}

/** What was written down about a process: `born` and `token` beside its number. */
export function readIdentity({
  pid,
  born,
  token,
}: Readonly<Record<string, unknown>>): ProcessIdentity | undefined {
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1) return undefined
  return {
    pid,
    ...(typeof born === 'string' && { born }),
    ...(typeof token === 'string' && { token }),
  }
}

/** Undefined if it is over. A zombie is. */
function bornAt(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`)
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state === undefined || state === 'Z' || state === 'X' ? undefined : `${bootId()}/${fields[18]}`
}

function hasToken(pid: number, token: string): boolean {
  const environment = read(`/proc/${pid}/environ`)
  return environment?.split('\0').includes(`${PROCESS_TOKEN}=${token}`) ?? false
}

let boot: string | undefined
function bootId(): string {
  boot ??= read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  return boot
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
