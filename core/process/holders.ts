import { readdir, readFile, readlink } from 'node:fs/promises'

/** A process that has a file or socket open, with the facts needed to stop it. */
export interface Holder {
  readonly pid: number
  /** Program and first argument, see {@link commandText}. Further arguments may contain secrets. */
  readonly command: string
}

/**
 * Find the processes of this host with an open file for which `matches` returns true. It gets the link in `/proc/<pid>/fd`: the path
 * of a file, or `socket:[inode]`. Finds none without /proc or without permission.
 */
export async function* holdersOf(matches: (link: string) => boolean): AsyncGenerator<Holder> {
  for (const pid of await processIds()) {
    if (await hasOpen(pid, matches)) yield { pid, command: await commandOf(pid) }
  }
}

/** Format a holder: `process 4711 (salt-master MWorker-0)`. */
export const holderText = ({ pid, command }: Holder): string => `process ${pid} (${command})`

/** Whether a process is stopped, by Ctrl-Z, SIGSTOP or a debugger. */
export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return /^\) [Tt] /.test(stat.slice(stat.lastIndexOf(')')))
}

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  return names.map(Number).filter(Number.isInteger)
}

async function hasOpen(pid: number, matches: (link: string) => boolean): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  const descriptors = await readdir(directory).catch(() => [])
  for (const descriptor of descriptors) {
    const link = await readlink(`${directory}/${descriptor}`).catch(() => '')
    if (matches(link)) return true
  }
  return false
}

async function commandOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandText(line.split('\0').filter(Boolean)) || 'unknown command'
}

const INTERPRETERS = /(?:^|\/)(?:node|nodejs|bun|deno|python[\d.]*|perl|ruby|sh|bash|dash)$/
/** Options whose argument is code, which may contain secrets. */
const CODE = /^(?:-[a-z]*[ecp]|--eval|--print)$/

/** Return a program and its first argument. For an interpreter that is the script, without the interpreter's options. */
export function commandText([program = '', ...words]: readonly string[]): string {
  if (!INTERPRETERS.test(program)) return [program, ...words.slice(0, 1)].join(' ').trim()
  const first = words.findIndex((word) => !word.startsWith('-'))
  const options = first < 0 ? words : words.slice(0, first)
  return first < 0 || options.some((word) => CODE.test(word)) ? program : `${program} ${words[first]}`
}
