import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Identity of a process, distinct from that of a later process with the same pid, after a reboot or in another container.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Its start: the boot id, and the clock ticks since boot. Undefined without /proc. */
  readonly born?: string
  /** Value of {@link PROCESS_TOKEN} in the environment that it was started with, if any. */
  readonly token?: string
}

/** Environment variable by which processes are recognised later. They delete it, so that their children do not inherit it. */
export const PROCESS_TOKEN = 'SALT_TS_PROCESS'

/** Create a token. All processes that one program starts share its `prefix`, by which they are found. */
export const newProcessToken = (prefix = ''): string => prefix + randomBytes(12).toString('hex')

/** Find the processes whose token has this prefix, with their titles. */
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

/** Return the identity of the process that has this pid now, without `born` if there is none. */
export function identityOf(pid: number, token?: string): ProcessIdentity {
  const born = bornAt(pid)
  return { pid, ...(born !== undefined && { born }), ...(token !== undefined && { token }) }
}

/** Whether a process still runs. False if only its pid is known, since the pid may have been reused. */
export function isRunning({ pid, born, token }: ProcessIdentity): boolean {
  return born !== undefined && born === bornAt(pid) && (token === undefined || hasToken(pid, token))
}

/** Read a recorded identity: `pid`, `born` and `token`. */
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

/** Return the start of a process; undefined if it has ended or is a zombie. */
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
