/** Show and signal processes, and show what the host has and uses. Reads /proc; needs no psutil. */
import { readdir, stat } from 'node:fs/promises'
import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { strftime } from '#internal'
import { which as findProgram } from './_cmd/which.ts'
import { textOf } from './_host/files.ts'
import { readDiskStats, readMemInfo, readNetDev, readVmStats } from './_host/kernel-tables.ts'
import { mounts, spaceOf } from './_host/mount-table.ts'
import { float, rounded } from './_host/numbers.ts'
import { DETAILS, environmentOf, readIonice } from './_host/process-details.ts'
import {
  bootTime,
  cpuTimes,
  findProcess,
  linkOf,
  memoryInfo,
  type Process,
  pageSize,
  pids,
  processes,
  TICKS,
} from './_host/processes.ts'
import { output, requireProgram, run } from './_host/programs.ts'
import { loggedIn } from './_host/utmp.ts'
import { textOnly } from './_values/text-only.ts'

const name = p.string()
const per_cpu = p.default(p.boolean(), false)
const all = p.default(p.boolean(), false)
const signal = p.default(p.integer({ minimum: 0, maximum: 64 }), 15)
const user = p.optional(p.string())
const full = p.default(p.boolean(), false)

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The ps module reads /proc, which only Linux has'

/**
 * Return the processes that use the processors most during `interval` seconds.
 *
 * @example salt '*' ps.top
 * @example salt '*' ps.top 5 10
 */
export const top = fn(
  {
    num_processes: p.default(p.integer({ minimum: 1 }), 5),
    interval: p.default(p.number({ minimum: 0 }), 3),
  },
  async ({ num_processes, interval }, context) => {
    const before = new Map((await processes()).map((one) => [one.pid, used(one)]))
    await delay(interval * 1000, undefined, { signal: context.signal })
    const after = (await processes()).filter(({ pid }) => before.has(pid))
    const growth = (one: Process) => used(one) - (before.get(one.pid) ?? 0)
    const busiest = after.sort((a, b) => growth(b) - growth(a)).slice(0, num_processes)
    return Promise.all(
      busiest.map(async (one) => ({
        cmd: one.cmdline.length > 0 ? one.cmdline : one.name,
        user: one.username,
        status: one.status,
        pid: one.pid,
        create_time: float(one.createTime),
        cpu: cpuTimes(one),
        mem: await memoryInfo(one.pid),
      })),
    )
  },
)

/**
 * List who is logged in: name, terminal, host, time of the log-in in seconds since 1970, and pid.
 *
 * @example salt '*' ps.get_users
 */
export const get_users = fn(() => loggedIn())

/**
 * List the pids of all processes.
 *
 * @example salt '*' ps.get_pid_list
 */
export const get_pid_list = fn(() => pids())

/**
 * Return facts about a process, or those that `attrs` lists; its environment (`environ`) only if it is listed. `cpu_times` are
 * seconds of user, system, children's user, children's system and waiting; `memory_info` are bytes: resident, virtual, shared,
 * text, library, data and dirty.
 *
 * @example salt '*' ps.proc_info 2322
 * @example salt '*' ps.proc_info 2322 attrs='[pid, name, status]'
 */
export const proc_info = fn(
  { pid: p.integer(), attrs: p.optional(p.array(p.string())) },
  async ({ pid, attrs }, context) => {
    const found = await findProcess(pid)
    if (!found) throw noProcess(pid)
    const facts = await factsOf(found)
    const details: Readonly<Record<string, (pid: number) => unknown>> = {
      ...DETAILS,
      environ: environmentOf,
      ionice: (pid) => ioniceOf(pid, context),
    }
    const known = [...Object.keys(facts), ...Object.keys(details)]
    const unknown = attrs?.find((attr) => !known.includes(attr))
    if (unknown !== undefined) throw new CommandExecutionError(`invalid attr name '${unknown}'`)
    const shown = attrs ?? known.filter((name) => name !== 'environ')
    const read = shown.map(async (name) => [name, name in facts ? facts[name] : await details[name]?.(pid)])
    const [outcome] = await Promise.allSettled([Promise.all(read)])
    if (!(await findProcess(pid))) throw noProcess(pid)
    if (outcome.status === 'rejected') throw outcome.reason
    return Object.fromEntries(outcome.value)
  },
)

const noProcess = (pid: number) => new CommandExecutionError(`process PID not found (pid=${pid})`)

/** Return the class and the level of a process when it uses disks; null if they cannot be asked for. */
async function ioniceOf(pid: number, context: Context): Promise<[ioclass: number, value: number] | null> {
  const ionice = await findProgram('ionice')
  if (ionice === null) return null
  const { retcode, stdout } = await run([ionice, '-p', String(pid)], context, { ignoreRetcode: true })
  return retcode === 0 ? readIonice(stdout) : null
}

/**
 * Send a signal to a process. False if there is no such process.
 *
 * @example salt '*' ps.kill_pid 2000 signal=9
 */
export const kill_pid = fn({ pid: p.integer({ minimum: 1 }), signal }, ({ pid, signal }) => send(pid, signal))

/**
 * Send a signal to the processes whose name contains a text, or with `full` whose command line does. Returns the pids, or
 * null if there is none. The process of this job is passed over.
 *
 * @example salt '*' ps.pkill prime95
 * @example salt '*' ps.pkill bash signal=9 user=fred
 */
export const pkill = fn(
  { pattern: p.string(), user, signal, full },
  async ({ pattern, signal, ...which }) => {
    const found = (await matching((text) => text.includes(pattern), which)).filter(
      (pid) => pid !== process.pid,
    )
    const killed = found.filter((pid) => send(pid, signal))
    return killed.length === 0 ? null : { killed }
  },
)

/**
 * Return the pids of the processes whose name contains a text, or matches it as a regular expression; with `full` their
 * command line. Null if there is none.
 *
 * @example salt '*' ps.pgrep httpd
 * @example salt '*' ps.pgrep '^ssh' pattern_is_regex=True
 */
export const pgrep = fn(
  { pattern: p.string(), user, full, pattern_is_regex: p.default(p.boolean(), false) },
  async ({ pattern, pattern_is_regex, ...which }) => {
    const expression = pattern_is_regex ? regularExpression(pattern) : undefined
    const found = await matching((text) => expression?.test(text) ?? text.includes(pattern), which)
    return found.length === 0 ? null : found
  },
)

/**
 * Return how busy the processors are, in per cent, during `interval` seconds.
 *
 * @example salt '*' ps.cpu_percent
 */
export const cpu_percent = fn(
  { interval: p.default(p.number({ minimum: 0 }), 0.1), per_cpu },
  async ({ interval, per_cpu }, context) => {
    const before = await processorTicks()
    await delay(interval * 1000, undefined, { signal: context.signal })
    const after = await processorTicks()
    const busy = after.map((ticks, at) => busyShare(before[at] ?? [], ticks))
    return per_cpu ? busy.slice(1) : busy[0]
  },
)

/**
 * Return the times of the processors in seconds, together or as a list.
 *
 * @example salt '*' ps.cpu_times per_cpu=True
 */
export const cpu_times = fn({ per_cpu }, async ({ per_cpu }) => {
  const times = (await processorTicks()).map((ticks) =>
    Object.fromEntries(CPU_TIMES.map((name, at) => [name, float((ticks[at] ?? 0) / TICKS)])),
  )
  return per_cpu ? times.slice(1) : times[0]
})

/**
 * Return the use of memory in bytes.
 *
 * @example salt '*' ps.virtual_memory
 */
export const virtual_memory = fn(() => memory())

/**
 * Return the use of swap space in bytes.
 *
 * @example salt '*' ps.swap_memory
 */
export const swap_memory = fn(async () => {
  const bytes = await memoryBytes()
  const [total, free] = [bytes('SwapTotal'), bytes('SwapFree')]
  const pages = readVmStats((await textOf('/proc/vmstat')) ?? '')
  const size = await pageSize()
  const [sin, sout] = ['pswpin', 'pswpout'].map((name) => Number(pages[name] ?? 0) * size)
  return { total, used: total - free, free, percent: share(total - free, total), sin, sout }
})

/**
 * List the mounted file systems, those without a device only with `all`.
 *
 * @example salt '*' ps.disk_partitions
 */
export const disk_partitions = fn({ all }, ({ all }) => partitions(all))

/**
 * Return the use of the file system at a path in bytes.
 *
 * @example salt '*' ps.disk_usage /home
 */
export const disk_usage = fn({ path: p.string() }, ({ path }) => usageOf(path))

/**
 * List the mounted file systems with their use.
 *
 * @example salt '*' ps.disk_partition_usage
 */
export const disk_partition_usage = fn({ all }, async ({ all }) =>
  Promise.all((await partitions(all)).map(async (one) => ({ ...one, ...(await usageOf(one.mountpoint)) }))),
)

/**
 * Return the size of the memory in bytes.
 *
 * @example salt '*' ps.total_physical_memory
 */
export const total_physical_memory = fn(async () => (await memory()).total)

/**
 * Return the number of processors.
 *
 * @example salt '*' ps.num_cpus
 */
export const num_cpus = fn(() => os.cpus().length)

/**
 * Return when the host was started, in seconds since 1970 or in a format of strftime.
 *
 * @example salt '*' ps.boot_time
 * @example salt '*' ps.boot_time time_format='%F %T'
 */
export const boot_time = fn({ time_format: p.optional(textOnly()) }, async ({ time_format }) => {
  const seconds = await bootTime()
  return time_format ? strftime(time_format, new Date(seconds * 1000)) : seconds
})

/**
 * Return the counters of all interfaces together, or of one; false if there is none of this name.
 *
 * @example salt '*' ps.network_io_counters
 * @example salt '*' ps.network_io_counters interface=eth0
 */
export const network_io_counters = fn({ interface: user }, async ({ interface: wanted }) => {
  const found = readNetDev((await textOf('/proc/net/dev')) ?? '')
  return summed(wanted ? [found[wanted]] : Object.values(found), NET_COUNTERS)
})

/**
 * Return the counters of all disks together, or of one; false if there is none of this name.
 *
 * @example salt '*' ps.disk_io_counters
 * @example salt '*' ps.disk_io_counters device=sda1
 */
export const disk_io_counters = fn({ device: user }, async ({ device }) => {
  const found = readDiskStats((await textOf('/proc/diskstats')) ?? '')
  const disks = await readdir('/sys/block').catch(() => [])
  const rows = device ? [found[device]] : disks.map((name) => found[name.replaceAll('!', '/')])
  return summed(device ? rows : rows.filter(Boolean), DISK_COUNTERS)
})

/**
 * Return the open files of the processes whose name begins with a text, as `lsof` shows them.
 *
 * @example salt '*' ps.lsof apache2
 */
export const lsof = fn({ name }, async ({ name }, context) => {
  await requireProgram('lsof')
  return [name, await output(['lsof', '-c', name], context)]
})

/**
 * Return the lines of `netstat -nap` that contain a text.
 *
 * @example salt '*' ps.netstat apache2
 */
export const netstat = fn({ name }, async ({ name }, context) => {
  await requireProgram('netstat')
  return [name, containing(await output(['netstat', '-nap'], context), name)]
})

/**
 * Return the lines of `ss -neap` that contain a text.
 *
 * @example salt '*' ps.ss apache2
 */
export const ss = fn({ name }, async ({ name }, context) => {
  await requireProgram('ss')
  return [name, containing(await output(['ss', '-neap'], context), name)]
})

/**
 * Return the lines of `ps aux` that match a regular expression, and how many there are.
 *
 * @example salt '*' ps.psaux www-data.+apache2
 */
export const psaux = fn({ name }, async ({ name }, context) => {
  const pattern = regularExpression(name)
  const lines = (await output(['ps', 'aux'], context)).split('\n')
  const found = lines.filter((line) => pattern.test(line) && !/salt.+ps\.psaux.+/.test(line))
  return [name, found, `${found.length} occurrence(s).`]
})

/**
 * List the processes that have a status, such as running, sleeping, stopped or zombie.
 *
 * @example salt '*' ps.status zombie
 */
export const status = fn({ status: p.string() }, async ({ status }) => {
  if (status === '') throw new SaltInvocationError('Filter is required for ps.status')
  const found = (await processes()).filter((one) => one.status === status)
  return found.map(({ pid, name }) => ({ pid, name }))
})

const CPU_TIMES = [
  ...['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'],
]
type Counters = readonly (readonly [name: string, column: string, factor: number])[]
const NET_COUNTERS: Counters = [
  ['bytes_sent', 'tx_bytes', 1],
  ['bytes_recv', 'rx_bytes', 1],
  ['packets_sent', 'tx_packets', 1],
  ['packets_recv', 'rx_packets', 1],
  ['errin', 'rx_errs', 1],
  ['errout', 'tx_errs', 1],
  ['dropin', 'rx_drop', 1],
  ['dropout', 'tx_drop', 1],
]
/** The kernel counts sectors of 512 bytes, whatever those of the disk are. */
const SECTOR = 512
const DISK_COUNTERS: Counters = [
  ['read_count', 'reads_issued', 1],
  ['write_count', 'writes_completed', 1],
  ['read_bytes', 'sectors_read', SECTOR],
  ['write_bytes', 'sectors_written', SECTOR],
  ['read_time', 'ms_spent_reading', 1],
  ['write_time', 'ms_spent_writing', 1],
  ['read_merged_count', 'reads_merged', 1],
  ['write_merged_count', 'writes_merged', 1],
  ['busy_time', 'ms_spent_in_io', 1],
]

function summed(rows: readonly (Readonly<Record<string, unknown>> | undefined)[], counters: Counters) {
  if (rows.includes(undefined)) return false
  return Object.fromEntries(
    counters.map(([name, column, factor]) => [
      name,
      rows.reduce((sum, row) => sum + Number(row?.[column] ?? 0), 0) * factor,
    ]),
  )
}

const used = ({ ticks }: Process): number => ticks.user + ticks.system

async function matching(
  isMatch: (text: string) => boolean,
  { user, full }: { readonly user?: string | undefined; readonly full: boolean },
): Promise<number[]> {
  const found = await processes()
  return found
    .filter((one) => isMatch(full ? one.cmdline.join(' ') : one.name))
    .filter(({ username }) => user === undefined || username === user)
    .map(({ pid }) => pid)
}

function send(pid: number, signal: number): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw new CommandExecutionError(
      `Signal ${signal} cannot be sent to process ${pid}: ${(error as Error).message}`,
    )
  }
}

async function factsOf(one: Process): Promise<Record<string, unknown>> {
  const [mem, total] = [await memoryInfo(one.pid), (await memory()).total]
  const ids = ([real, effective, saved]: readonly string[]) => [real, effective, saved].map(Number)
  return {
    pid: one.pid,
    ppid: one.ppid,
    name: one.name,
    status: one.status,
    cmdline: one.cmdline,
    exe: await linkOf(one.pid, 'exe'),
    cwd: await linkOf(one.pid, 'cwd'),
    username: one.username,
    uids: ids(one.uids),
    gids: ids(one.gids),
    nice: one.nice,
    num_threads: one.threads,
    create_time: float(one.createTime),
    cpu_times: Object.values(cpuTimes(one)),
    memory_info: Object.values(mem),
    memory_percent: float(((mem.rss ?? 0) / total) * 100),
    num_fds: await readdir(`/proc/${one.pid}/fd`).then(
      ({ length }) => length,
      () => null,
    ),
  }
}

/** Return the ticks of all processors together, then of each. */
async function processorTicks(): Promise<number[][]> {
  const lines = ((await textOf('/proc/stat')) ?? '').split('\n').filter((line) => line.startsWith('cpu'))
  return lines.map((line) => line.split(/\s+/).slice(1).map(Number))
}

function busyShare(before: readonly number[], after: readonly number[]): unknown {
  // The first eight columns: the time of guests is part of that of users.
  const grown = after.slice(0, 8).map((ticks, at) => Math.max(0, ticks - (before[at] ?? 0)))
  const total = grown.reduce((sum, ticks) => sum + ticks, 0)
  return share(total - (grown[3] ?? 0) - (grown[4] ?? 0), total)
}

const share = (part: number, whole: number): unknown =>
  float(whole === 0 ? 0 : rounded((part / whole) * 100, 1))

async function memoryBytes(): Promise<(name: string) => number> {
  const table = readMemInfo((await textOf('/proc/meminfo')) ?? '')
  return (name) => Number(table[name]?.value ?? 0) * 1024
}

async function memory() {
  const bytes = await memoryBytes()
  const [total, free, available] = [bytes('MemTotal'), bytes('MemFree'), bytes('MemAvailable')]
  const [buffers, cached] = [bytes('Buffers'), bytes('Cached') + bytes('SReclaimable')]
  return {
    total,
    available,
    percent: share(total - available, total),
    used: total - free - cached - buffers,
    free,
    active: bytes('Active'),
    inactive: bytes('Inactive'),
    buffers,
    cached,
    shared: bytes('Shmem'),
    slab: bytes('Slab'),
  }
}

/** Bytes of the longest name and the longest path on the file systems of Linux. */
const LONGEST_NAMES = { maxfile: 255, maxpath: 4096 }

async function partitions(all: boolean) {
  const known = ((await textOf('/proc/filesystems')) ?? '').split('\n')
  const types = [...known.filter((line) => !line.startsWith('nodev')).map((line) => line.trim()), 'zfs']
  const found = (await mounts()).filter(
    ({ device, type }) => all || (device !== 'none' && types.includes(type)),
  )
  return found.map(({ device, path, type, options }) => ({
    device,
    mountpoint: path,
    fstype: type,
    opts: options.join(','),
    ...LONGEST_NAMES,
  }))
}

async function usageOf(path: string) {
  if ((await stat(path).catch(() => undefined)) === undefined) {
    throw new CommandExecutionError(`The path '${path}' does not exist`)
  }
  const { total, free, available } = await spaceOf(path)
  const used = total - free
  return { total, used, free: available, percent: share(used, used + available) }
}

const containing = (text: string, part: string): string[] =>
  text.split('\n').filter((line) => line.includes(part))

function regularExpression(pattern: string): RegExp {
  try {
    return new RegExp(pattern)
  } catch {
    throw new SaltInvocationError(`'${pattern}' is not a regular expression`)
  }
}
