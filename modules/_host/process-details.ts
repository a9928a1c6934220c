/** Facts about a process that are read only if they are asked for. Null for what may not be read. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { textOf } from './files.ts'
import { float } from './numbers.ts'
import { descriptorsOf, socketsOf } from './process-sockets.ts'
import { fieldsOfStat, memoryInfo, TICKS } from './processes.ts'

type Detail = (pid: number) => Promise<unknown>

const KIB = 1024

/** The facts by their names in psutil. Its named tuples are lists here. */
export const DETAILS: Readonly<Record<string, Detail>> = {
  connections: socketsOf,
  cpu_affinity: async (pid) => {
    const list = (await statusOf(pid)).get('Cpus_allowed_list')
    return list === undefined ? null : list.split(',').flatMap(rangeOf)
  },
  cpu_num: async (pid) => (await statFields(`/proc/${pid}`)).at(36) ?? null,
  cpu_percent: async () => float(0), // what psutil says when it is asked for the first time
  io_counters: async (pid) => {
    const counters = fieldsIn(await readable(`/proc/${pid}/io`))
    const names = ['syscr', 'syscw', 'read_bytes', 'write_bytes', 'rchar', 'wchar']
    return counters && names.map((name) => Number(counters.get(name) ?? 0))
  },
  memory_full_info: async (pid) => {
    const rollup = await readable(`/proc/${pid}/smaps_rollup`)
    if (rollup === undefined) return null
    const sum = (name: string) => sizes(rollup, name).reduce((all, one) => all + one, 0)
    return [...Object.values(await memoryInfo(pid)), sum('Private_\\w+'), sum('Pss'), sum('Swap')]
  },
  memory_maps: async (pid) => {
    const maps = await readable(`/proc/${pid}/smaps`)
    return maps === undefined ? null : groupedMaps(maps)
  },
  num_ctx_switches: async (pid) => {
    const status = await statusOf(pid)
    return ['voluntary_ctxt_switches', 'nonvoluntary_ctxt_switches'].map((name) => Number(status.get(name)))
  },
  open_files: openFiles,
  terminal: async (pid) => terminalOf((await statFields(`/proc/${pid}`)).at(4) ?? 0),
  threads: async (pid) => {
    const ids = (await readdir(`/proc/${pid}/task`).catch(() => [])).sort()
    return Promise.all(ids.map(async (id) => [Number(id), ...(await threadTimes(pid, id))]))
  },
}

/** Return the environment with which a process was started; null if it may not be read. */
export async function environmentOf(pid: number): Promise<Record<string, string> | null> {
  const text = await readable(`/proc/${pid}/environ`)
  if (text === undefined) return null
  const pairs = text.split('\0').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

/** Read the class and the level in what `ionice -p` says. */
export function readIonice(text: string): [ioclass: number, value: number] {
  const classes = ['none', 'realtime', 'best-effort', 'idle']
  const [, name = '', level = '0'] = /^(\S+?):?(?:\s+prio (\d+))?$/.exec(text.trim()) ?? []
  return [Math.max(0, classes.indexOf(name)), Number(level)]
}

const readable = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)

async function statusOf(pid: number): Promise<ReadonlyMap<string, string>> {
  return fieldsIn(await textOf(`/proc/${pid}/status`)) ?? new Map()
}

function fieldsIn(text: string | undefined): ReadonlyMap<string, string> | null {
  if (text === undefined) return null
  return new Map([...text.matchAll(/^(\w+):\s*(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
}

/** Return the numbers of a `stat` file after the name of the process. */
async function statFields(folder: string): Promise<number[]> {
  return fieldsOfStat((await textOf(`${folder}/stat`)) ?? '').map(Number)
}

async function threadTimes(pid: number, id: string): Promise<unknown[]> {
  const fields = await statFields(`/proc/${pid}/task/${id}`)
  return [fields[11], fields[12]].map((ticks) => float((ticks ?? 0) / TICKS))
}

function rangeOf(text: string): number[] {
  const [from = 0, to = from] = text.split('-').map(Number)
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

/** Return the sizes of a name in bytes; the kernel writes them in KiB. */
const sizes = (text: string, name: string): number[] =>
  [...text.matchAll(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'gm'))].map(([, size]) => Number(size) * KIB)

const MAP_SIZES = ['Rss', 'Size', 'Pss', 'Shared_Clean', 'Shared_Dirty', 'Private_Clean', 'Private_Dirty']
const MORE_MAP_SIZES = ['Referenced', 'Anonymous', 'Swap']
const MAP_HEAD = /^[\da-f]+-[\da-f]+ \S+ \S+ \S+ \d+ *(.*)$/gm

/** Return the path and the sizes of each file that is mapped, with those of all its parts together. */
function groupedMaps(text: string): [string, ...number[]][] {
  const heads = [...text.matchAll(MAP_HEAD)]
  const grouped = new Map<string, number[]>()
  for (const [at, head] of heads.entries()) {
    const block = text.slice(head.index, heads[at + 1]?.index)
    const path = head[1] || '[anon]'
    const found = [...MAP_SIZES, ...MORE_MAP_SIZES].map((name) => sizes(block, name)[0] ?? 0)
    const known = grouped.get(path)
    grouped.set(path, known ? known.map((size, index) => size + (found[index] ?? 0)) : found)
  }
  return [...grouped].map(([path, found]) => [path, ...found])
}

const ACCESS_MODE = 3
const APPEND = 0o2000

/** Return path, descriptor, position, mode and flags of each regular file that is open. */
async function openFiles(pid: number): Promise<unknown[] | null> {
  const targets = await descriptorsOf(pid)
  if (!targets) return null
  const found = await Promise.all([...targets].map(([fd, path]) => openFile(pid, fd, path)))
  return found.filter((file) => file !== undefined)
}

async function openFile(pid: number, fd: number, path: string): Promise<unknown[] | undefined> {
  if (!isAbsolute(path) || !(await stat(path).catch(() => undefined))?.isFile()) return undefined
  const info = fieldsIn(await readable(`/proc/${pid}/fdinfo/${fd}`))
  if (!info) return undefined
  const flags = Number.parseInt(info.get('flags') ?? '0', 8)
  return [path, fd, Number(info.get('pos')), modeOf(flags), flags]
}

function modeOf(flags: number): string {
  const mode = ['r', 'w', 'r+', ''][flags & ACCESS_MODE] as string
  return (flags & APPEND) === 0 ? mode : mode.replace('w', 'a').replace('r+', 'a+')
}

/** Return the path of a terminal from its device number; null if there is none. */
async function terminalOf(device: number): Promise<string | null> {
  if (device === 0) return null
  for (const folder of ['/dev', '/dev/pts']) {
    for (const name of (await readdir(folder).catch(() => [])).filter((one) => /^(tty.*|\d+)$/.test(one))) {
      const path = `${folder}/${name}`
      if ((await stat(path).catch(() => undefined))?.rdev === device) return path
    }
  }
  return null
}
