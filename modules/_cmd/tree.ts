import { readdirSync, readFileSync, statSync } from 'node:fs'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly session: number
}

/** Identity of a pipe: whoever holds it open belongs to the command, even after its parent is gone. */
export interface PipeIdentity {
  readonly dev: number
  readonly ino: number
}

/**
 * Signal a command and everything it started. SIGKILL stops them all first, so that none can fork out of reach.
 * Reaches children of children, and orphans that still hold the command's output and have not left the session.
 */
export function signalTree(
  root: number,
  signal: 'SIGTERM' | 'SIGKILL',
  pipes: readonly PipeIdentity[] = [],
): void {
  const reached = new Set<number>()
  for (;;) {
    const fresh = membersOf(root, pipes).filter((pid) => !reached.has(pid))
    if (fresh.length === 0) break
    for (const pid of fresh) {
      reached.add(pid)
      send(pid, signal === 'SIGKILL' ? 'SIGSTOP' : signal)
    }
    if (signal === 'SIGTERM') return
  }
  for (const pid of reached) send(pid, 'SIGKILL')
}

function membersOf(root: number, pipes: readonly PipeIdentity[]): number[] {
  const all = processes()
  const members = new Set([root])
  for (const { pid, session } of all) if (isOrphan(pid, session, all, pipes)) members.add(pid)
  for (let before = 0; before !== members.size; ) {
    before = members.size
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid)
  }
  return [...members].filter((pid) => all.some((process) => process.pid === pid))
}

function isOrphan(
  pid: number,
  session: number,
  all: readonly Process[],
  pipes: readonly PipeIdentity[],
): boolean {
  if (pipes.length === 0 || pid === process.pid) return false
  if (session !== all.find((candidate) => candidate.pid === process.pid)?.session) return false
  return entries(`/proc/${pid}/fd`).some((fd) => holds(`/proc/${pid}/fd/${fd}`, pipes))
}

function holds(path: string, pipes: readonly PipeIdentity[]): boolean {
  try {
    const found = statSync(path)
    return pipes.some(({ dev, ino }) => found.dev === dev && found.ino === ino)
  } catch {
    return false
  }
}

function processes(): Process[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => describe(Number(name)))
}

// Fields after the program's name, which may itself contain blanks and brackets: state, parent, group, session.
function describe(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? [] : [{ pid, parent: Number(parent), session: Number(session) }]
  } catch {
    return []
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}
