import { readdir, readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { linesOf, textOf } from './files.ts'
import { float } from './numbers.ts'

/** Clock ticks of /proc in a second, on all platforms. */
export const TICKS = 100

const STATES = new Map([
  ...([
    ['R', 'running'],
    ['S', 'sleeping'],
    ['D', 'disk-sleep'],
    ['T', 'stopped'],
  ] as [string, string][]),
  ...([
    ['t', 'tracing-stop'],
    ['Z', 'zombie'],
    ['X', 'dead'],
    ['x', 'dead'],
  ] as [string, string][]),
  ...([
    ['K', 'wake-kill'],
    ['W', 'waking'],
    ['I', 'idle'],
    ['P', 'parked'],
  ] as [string, string][]),
])

/** A process, as /proc described it. */
export interface Process {
  readonly pid: number
  readonly ppid: number
  readonly name: string
  readonly status: string
  readonly cmdline: readonly string[]
  readonly username: string | null
  readonly uids: readonly string[]
  readonly gids: readonly string[]
  readonly threads: number
  readonly nice: number
  /** Seconds since 1970. */
  readonly createTime: number
  /** Clock ticks of the process itself, and of its children that have ended. */
  readonly ticks: {
    readonly user: number
    readonly system: number
    readonly childUser: number
    readonly childSystem: number
    readonly iowait: number
  }
}

/** List the pids of all processes, in ascending order. */
export async function pids(): Promise<number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return names.map(Number).sort((a, b) => a - b)
}

/** Return all processes. Those that end meanwhile are left out. */
export async function processes(): Promise<Process[]> {
  const facts = await hostFacts()
  const found = await Promise.all((await pids()).map((pid) => describe(pid, facts)))
  return found.filter((one) => one !== undefined)
}

/** Return a process; undefined if there is none of this pid. */
export async function findProcess(pid: number): Promise<Process | undefined> {
  return describe(pid, await hostFacts())
}

interface HostFacts {
  readonly bootTime: number
  readonly users: ReadonlyMap<string, string>
}

async function hostFacts(): Promise<HostFacts> {
  const rows = (await linesOf('/etc/passwd')).map((line) => line.split(':'))
  return { bootTime: await bootTime(), users: new Map(rows.map(([name = '', , uid = '']) => [uid, name])) }
}

/** Return when the host was started, in seconds since 1970. */
export async function bootTime(): Promise<number> {
  return Number(/^btime (\d+)/m.exec((await textOf('/proc/stat')) ?? '')?.[1] ?? 0)
}

async function describe(pid: number, { bootTime, users }: HostFacts): Promise<Process | undefined> {
  const at = `/proc/${pid}`
  const [stat, status, cmdline] = await Promise.all(
    ['stat', 'status', 'cmdline'].map((name) => textOf(`${at}/${name}`)),
  )
  if (stat === undefined || status === undefined) return undefined
  const comm = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
  const fields = fieldsOfStat(stat)
  const number = (index: number) => Number(fields[index] ?? 0)
  const ids = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]?.split(/\s+/) ?? []
  const words = (cmdline ?? '').split('\0')
  if (words.at(-1) === '') words.pop()
  const uids = ids('Uid')
  return {
    pid,
    ppid: number(1),
    name: fullName(comm, words[0]),
    status: STATES.get(fields[0] ?? '') ?? '?',
    cmdline: words,
    username: users.get(uids[0] ?? '') ?? uids[0] ?? null,
    uids,
    gids: ids('Gid'),
    threads: number(17),
    nice: number(16),
    createTime: bootTime + number(19) / TICKS,
    ticks: {
      user: number(11),
      system: number(12),
      childUser: number(13),
      childSystem: number(14),
      iowait: number(39),
    },
  }
}

/** Return the fields of a `stat` file after the name of the process, which may have spaces and parentheses. */
export const fieldsOfStat = (stat: string): string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ')

/** The kernel cuts names after 15 characters. */
function fullName(comm: string, program = ''): string {
  const name = basename(program)
  return comm.length >= 15 && name.startsWith(comm) ? name : comm
}

/** Return the processor times of a process in seconds. */
export const cpuTimes = ({ ticks }: Process): Record<string, unknown> => ({
  user: float(ticks.user / TICKS),
  system: float(ticks.system / TICKS),
  children_user: float(ticks.childUser / TICKS),
  children_system: float(ticks.childSystem / TICKS),
  iowait: float(ticks.iowait / TICKS),
})

/** Return the memory of a process in bytes. */
export async function memoryInfo(pid: number): Promise<Record<string, number>> {
  const pages = ((await textOf(`/proc/${pid}/statm`)) ?? '').split(' ').map(Number)
  const size = await pageSize()
  const names = [
    ['rss', 1],
    ['vms', 0],
    ['shared', 2],
    ['text', 3],
    ['lib', 4],
    ['data', 5],
    ['dirty', 6],
  ] as const
  return Object.fromEntries(names.map(([name, at]) => [name, (pages[at] ?? 0) * size]))
}

/** Return the size of a page of memory in bytes. */
export async function pageSize(): Promise<number> {
  const smaps = (await textOf('/proc/self/smaps')) ?? ''
  return Number(/^KernelPageSize:\s+(\d+) kB/m.exec(smaps)?.[1] ?? 4) * 1024
}

/** Return what a symlink of a process points to, such as `exe` or `cwd`; null if it may not be read. */
export const linkOf = (pid: number, name: string): Promise<string | null> =>
  readlink(`/proc/${pid}/${name}`).catch(() => null)
