import { readdir, readFile, readlink } from 'node:fs/promises'

/** A process that has something open: what one needs to know to stop it. */
export interface Holder {
  readonly pid: number
  /** Program and first argument, as {@link shownCommand} shows them; further ones may hold secrets. */
  readonly command: string
}

/**
 * Processes of this machine that have open what `isMeant` says of a link in `/proc/<pid>/fd`: the path of a file, or
 * `socket:[inode]`. None where that cannot be found out (other systems, no rights).
 */
export async function* holdersOf(isMeant: (link: string) => boolean): AsyncGenerator<Holder> {
  for (const pid of await processIds()) {
    if (await hasOpen(pid, isMeant)) yield { pid, command: await commandOf(pid) }
  }
}

/** `process 4711 (salt-master MWorker-0)` */
export const holderText = ({ pid, command }: Holder): string => `process ${pid} (${command})`

/** Whether a process stands still: by Ctrl-Z, SIGSTOP or a debugger. */
export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return /^\) [Tt] /.test(stat.slice(stat.lastIndexOf(')')))
}

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  return names.map(Number).filter(Number.isInteger)
}

async function hasOpen(pid: number, isMeant: (link: string) => boolean): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  const descriptors = await readdir(directory).catch(() => [])
  for (const descriptor of descriptors) {
    const link = await readlink(`${directory}/${descriptor}`).catch(() => '')
    if (isMeant(link)) return true
  }
  return false
}

async function commandOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return shownCommand(line.split('\0').filter(Boolean)) || 'unknown command'
}

const INTERPRETERS = /(?:^|\/)(?:node|nodejs|bun|deno|python[\d.]*|perl|ruby|sh|bash|dash)$/
/** What follows is code, which may hold secrets. */
const CODE = /^(?:-[a-z]*[ecp]|--eval|--print)$/

/** A program and its first argument; of an interpreter what it runs, without the options for itself. */
export function shownCommand([program = '', ...words]: readonly string[]): string {
  if (!INTERPRETERS.test(program)) return [program, ...words.slice(0, 1)].join(' ').trim()
  const first = words.findIndex((word) => !word.startsWith('-'))
  const options = first < 0 ? words : words.slice(0, first)
  return first < 0 || options.some((word) => CODE.test(word)) ? program : `${program} ${words[first]}`
}
