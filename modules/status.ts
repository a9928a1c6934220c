/** Show what the host does: load, memory, processors, disks, network, processes and sessions. */
import { lookup } from 'node:dns/promises'
import os from 'node:os'
import {
  CommandExecutionError,
  type Context,
  fn,
  p,
  SaltInvocationError,
  untyped,
  type Virtual,
} from 'salt-ts'
import { fnmatch, strftime } from '#internal'
import { which } from './_cmd/which.ts'
import { textOf } from './_host/files.ts'
import {
  countProcessors,
  readCpuInfo,
  readCpuStats,
  readDiskStats,
  readMemInfo,
  readNetDev,
  readNetStats,
  readVmStats,
} from './_host/kernel-tables.ts'
import { mounts, spaceOf } from './_host/mount-table.ts'
import { float } from './_host/numbers.ts'
import { output, run } from './_host/programs.ts'
import { tryConnect } from './_host/reach.ts'
import { establishedTcp } from './_host/sockets.ts'
import { textOnly } from './_values/text-only.ts'

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The status module reads /proc, which only Linux has'

/**
 * Return all processes as a map of their pid to `user` and `cmd`.
 *
 * @example salt '*' status.procs
 */
export const procs = fn(async (_, context) => {
  const { lines } = await listProcesses(context)
  const [header = '', ...rows] = lines
  const columns = header.trim().split(/\s+/)
  const at = (...names: string[]) => Math.max(0, ...names.map((name) => columns.indexOf(name)))
  const [user, pid, cmd] = [at('USER', 'UID'), at('PID'), at('COMMAND', 'CMD')]
  const found = rows.map((line) => line.trim().split(/\s+/))
  return Object.fromEntries(
    found.map((words) => [words[pid] ?? '', { user: words[user] ?? '', cmd: words.slice(cmd).join(' ') }]),
  )
})

/**
 * Return values that the minion's configuration names, such as `status.cpustats.custom: [cpu, ctxt, btime]`.
 *
 * @example salt '*' status.custom
 */
export const custom = fn(async (_, { call, loader, log }) => {
  const found: Record<string, unknown> = {}
  const configured = await call('config.dot_vals', { value: 'status' })
  for (const [key, wanted] of Object.entries(configured as Record<string, unknown>)) {
    const name = key.split('.').slice(0, -1).join('.')
    if (name === 'status.custom' || !Array.isArray(wanted)) continue
    if (!(await loader.has(name))) {
      log.warn(`custom status ${name} isn't loaded`)
      continue
    }
    const values = (await call(untyped(name))) as Readonly<Record<string, unknown>>
    for (const item of wanted.map(String)) {
      if (values[item] === undefined) log.warn(`val ${item} not in return of ${name}`)
      found[item] = values[item] ?? 'UNKNOWN'
    }
  }
  return found
})

/**
 * Return how long the host is up, when it was started, and the number of users who are logged in.
 *
 * @example salt '*' status.uptime
 */
export const uptime = fn(async (_, context) => {
  const text = await textOf('/proc/uptime')
  if (text === undefined) throw new CommandExecutionError('File /proc/uptime was not found.')
  const seconds = Math.trunc(Number.parseFloat(text))
  const started = Date.now() - seconds * 1000
  const rest = seconds % 86_400
  const sessions = (await which('who')) === null ? undefined : (await run(['who', '-s'], context)).stdout
  return {
    seconds,
    since_iso: new Date(started).toISOString().replace(/(?:\.000)?Z$/, (end) => (end === 'Z' ? '000' : '')),
    since_t: Math.floor(started / 1000),
    days: Math.floor(seconds / 86_400),
    time: `${Math.floor(rest / 3600)}:${Math.floor((rest % 3600) / 60)}`,
    ...(sessions !== undefined && { users: sessions.split('\n').filter(Boolean).length }),
  }
})

/**
 * Return the load averages of 1, 5 and 15 minutes.
 *
 * @example salt '*' status.loadavg
 */
export const loadavg = fn(() => {
  const [one = 0, five = 0, fifteen = 0] = os.loadavg()
  return { '1-min': float(one), '5-min': float(five), '15-min': float(fifteen) }
})

/**
 * Return the counters of /proc/stat: the times of the processors, interrupts and context switches.
 *
 * @example salt '*' status.cpustats
 */
export const cpustats = fn(() => readTable('/proc/stat', readCpuStats))

/**
 * Return /proc/meminfo.
 *
 * @example salt '*' status.meminfo
 */
export const meminfo = fn(() => readTable('/proc/meminfo', readMemInfo))

/**
 * Return /proc/cpuinfo; of several processors, the last one.
 *
 * @example salt '*' status.cpuinfo
 */
export const cpuinfo = fn(() => readTable('/proc/cpuinfo', readCpuInfo))

/**
 * Return /proc/diskstats, by device.
 *
 * @example salt '*' status.diskstats
 */
export const diskstats = fn(() => readTable('/proc/diskstats', readDiskStats))

/**
 * Return the size of file systems and what is available, in bytes: of all, of those at some paths, or of those whose type
 * matches a shell pattern.
 *
 * @example salt '*' status.diskusage
 * @example salt '*' status.diskusage / /tmp
 * @example salt '*' status.diskusage 'ext?' '/run/*'
 */
export const diskusage = fn({ args: p.rest(p.string()) }, async ({ args }) => {
  const types = args.length === 0 ? ['*'] : args.filter((arg) => !arg.startsWith('/'))
  const mounted = types.length === 0 ? [] : await mounts('/proc/mounts')
  const paths = [
    ...args.filter((arg) => arg.startsWith('/')),
    ...mounted.filter(({ type }) => types.some((glob) => fnmatch(type, glob))).map(({ path }) => path),
  ]
  const sizes = await Promise.all(paths.map(usageOf))
  return Object.fromEntries(paths.map((path, at) => [path, sizes[at]]).filter(([, size]) => size))
})

/**
 * Return /proc/vmstat.
 *
 * @example salt '*' status.vmstats
 */
export const vmstats = fn(() => readTable('/proc/vmstat', readVmStats))

/**
 * Return the number of processors that the minion may use.
 *
 * @example salt '*' status.nproc
 */
export const nproc = fn(async () => {
  const status = (await textOf('/proc/self/status')) ?? ''
  return countProcessors(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '0')
})

/**
 * Return /proc/net/netstat, by protocol.
 *
 * @example salt '*' status.netstats
 */
export const netstats = fn(() => readTable('/proc/net/netstat', readNetStats))

/**
 * Return /proc/net/dev, by interface.
 *
 * @example salt '*' status.netdev
 */
export const netdev = fn(() => readTable('/proc/net/dev', readNetDev))

/**
 * Return the sessions of users, as the program `w` shows them.
 *
 * @example salt '*' status.w
 */
export const w = fn(async (_, context) => {
  const lines = (await output(['w', '-fh'], context)).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [user = '', tty = '', login = '', idle = '', jcpu = '', pcpu = '', ...what] = line
      .trim()
      .split(/\s+/)
    return { idle, jcpu, login, pcpu, tty, user, what: what.join(' ') }
  })
})

/**
 * Return what `cpuinfo`, `cpustats`, `diskstats`, `diskusage`, `loadavg`, `meminfo`, `netdev`, `netstats`, `uptime`,
 * `vmstats` and `w` return, by these names.
 *
 * @example salt '*' status.all_status
 */
export const all_status = fn(async (_, context) => {
  const parts = {
    cpuinfo,
    cpustats,
    diskstats,
    loadavg,
    meminfo,
    netdev,
    netstats,
    uptime,
    vmstats,
    w,
  }
  const read = Object.entries(parts).map(async ([name, part]) => [name, await part.run({}, context)] as const)
  const found: Record<string, unknown> = Object.fromEntries(await Promise.all(read))
  return { ...found, diskusage: await diskusage.run({ args: [] }, context) }
})

/**
 * Return the pids of the processes whose line in `ps` matches a regular expression, one a line; an empty text if there
 * is none.
 *
 * @example salt '*' status.pid sshd
 */
export const pid = fn({ sig: p.string() }, async ({ sig }, context) => {
  const pattern = regularExpression(sig)
  const { lines, pid } = await listProcesses(context)
  const own = [String(process.pid), String(pid)]
  const found = lines.filter((line) => pattern.test(line)).map((line) => line.trim().split(/\s+/)[1] ?? '')
  return found.filter((one) => !own.includes(one)).join('\n')
})

/**
 * Return the version of the kernel.
 *
 * @example salt '*' status.version
 */
export const version = fn(async () => ((await textOf('/proc/version')) ?? '').trim())

/**
 * Whether the host has a connection to the publisher of a master; null if the name of the master has no address. Events,
 * which Salt fires if that is not as `connected` says, are not fired: this minion watches its masters itself.
 *
 * @example salt '*' status.master salt.example.com
 */
export const master = fn(
  { master: p.optional(p.string()), connected: p.default(p.boolean(), true) },
  async ({ master }, { call }) => {
    if (!master) return null
    const addresses = await lookup(master, { all: true }).catch(() => [])
    if (addresses.length === 0) return null
    const port = Number(await call('config.get', { key: 'publish_port', default: 4505 }))
    const connections = await establishedTcp()
    return connections.some(
      ({ remote_addr, remote_port }) =>
        remote_port === port && addresses.some(({ address }) => address === remote_addr),
    )
  },
)

/**
 * Whether a master answers at its `ret_port` (config: master_port). Salt fires an event then that has its minion change to this
 * master; this minion does that by itself, and none is fired.
 *
 * @example salt '*' status.ping_master localhost
 */
export const ping_master = fn({ master: p.string() }, async ({ master }, { call, opts, signal }) => {
  if (!master) return false
  const port = Number(await call('config.get', { key: 'master_port', default: 4506 }))
  const endpoint = {
    host: master,
    port,
    proto: 'tcp',
    family: undefined,
    timeout: Number(opts.auth_timeout ?? 5),
  }
  return (await tryConnect(endpoint, signal)).result
})

/**
 * Whether a proxy minion was connected again: false, since salt-ts has no proxy minions.
 *
 * @example salt '*' status.proxy_reconnect rest_sample
 */
export const proxy_reconnect = fn({ proxy_name: p.string(), opts: p.optional(p.any()) }, () => false)

/**
 * Return the time of the host, in a format of strftime.
 *
 * @example salt '*' status.time
 * @example salt '*' status.time '%s'
 */
export const time = fn({ format: p.default(textOnly(), '%A, %d. %B %Y %I:%M%p') }, ({ format }) =>
  strftime(format, new Date()),
)

/** Run the `ps` of the grain of this name. */
async function listProcesses(context: Context): Promise<{ lines: string[]; pid: number }> {
  const words = String(context.grains.ps ?? 'ps -efHww').split(/\s+/)
  const { stdout, pid } = await run(words, context)
  return { lines: stdout.split('\n').filter(Boolean), pid }
}

async function readTable<T>(path: string, read: (text: string) => T): Promise<T> {
  return read((await textOf(path)) ?? '')
}

async function usageOf(path: string): Promise<{ available: number; total: number } | undefined> {
  return spaceOf(path).then(
    ({ available, total }) => ({ available, total }),
    () => undefined,
  )
}

function regularExpression(pattern: string): RegExp {
  try {
    return new RegExp(pattern)
  } catch {
    throw new SaltInvocationError(`'${pattern}' is not a regular expression`)
  }
}
