import { readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Process states in /proc: zombie (its parent has not waited for it yet) and dead. */
const ENDED = 'ZX'
/** Ended, stopped by a signal, or stopped by a tracer. */
const HALTED = `${ENDED}Tt`
const POLL_MS = 1

interface Process {
  readonly pid: number
  readonly parent: number
  readonly session: number
}

/** Identity of a pipe. A process that has it open belongs to the command, even after its parent has ended. */
export interface PipeIdentity {
  readonly dev: number
  readonly ino: number
}

/** Send SIGTERM to a command and to all processes it started that can be found now. */
export function terminateTree(root: number, pipes: readonly PipeIdentity[] = []): void {
  for (const pid of membersOf(root, pipes)) send(pid, 'SIGTERM')
}

/**
 * Kill a command and everything it started: its descendants, and orphans that still have the command's output open and
 * have not left the session. Resolves when all have ended, or after `ms` (a process that waits for a disk ends later).
 */
export async function killTree(root: number, pipes: readonly PipeIdentity[], ms: number): Promise<void> {
  const deadline = performance.now() + ms
  const reached = await stopTree(root, pipes, deadline)
  for (const pid of reached) send(pid, 'SIGKILL')
  await untilAll(reached, ENDED, deadline)
}

/**
 * Stop all processes of a command, so that none can fork out of reach. Repeats until it finds no new process, since one
 * that is forking when the signal is sent has a child before it stops.
 */
async function stopTree(
  root: number,
  pipes: readonly PipeIdentity[],
  deadline: number,
): Promise<Set<number>> {
  const reached = new Set<number>()
  for (;;) {
    const fresh = membersOf(root, pipes).filter((pid) => !reached.has(pid))
    for (const pid of fresh) {
      reached.add(pid)
      send(pid, 'SIGSTOP')
    }
    if (fresh.length === 0 || performance.now() >= deadline) return reached
    await untilAll(fresh, HALTED, deadline)
  }
}

async function untilAll(pids: Iterable<number>, states: string, deadline: number): Promise<void> {
  for (const pid of pids) while (!isIn(states, pid) && performance.now() < deadline) await delay(POLL_MS)
}

/** Whether all threads of a process are in one of these states. True for a process that no longer exists. */
const isIn = (states: string, pid: number): boolean =>
  entries(`/proc/${pid}/task`).every((thread) => {
    const [state] = fieldsOf(`/proc/${pid}/task/${thread}/stat`)
    return state === undefined || states.includes(state)
  })

function membersOf(root: number, pipes: readonly PipeIdentity[]): number[] {
  const all = processes()
  const children = new Map<number, number[]>()
  for (const { pid, parent } of all) (children.get(parent) ?? children.set(parent, []).get(parent))?.push(pid)
  const members = new Set(
    [...all.filter(({ pid }) => pid === root), ...orphans(all, pipes)].map(({ pid }) => pid),
  )
  for (const pid of members) for (const child of children.get(pid) ?? []) members.add(child)
  return [...members]
}

/** Return the processes in the session of this process that have one of the pipes open. */
function orphans(all: readonly Process[], pipes: readonly PipeIdentity[]): Process[] {
  const own = all.find(({ pid }) => pid === process.pid)
  if (pipes.length === 0) return []
  return all.filter(
    (one) =>
      one !== own &&
      one.session === own?.session &&
      entries(`/proc/${one.pid}/fd`).some((fd) => holds(`/proc/${one.pid}/fd/${fd}`, pipes)),
  )
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

function describe(pid: number): Process[] {
  const [state, parent, , session] = fieldsOf(`/proc/${pid}/stat`)
  return state === undefined || state === 'Z'
    ? []
    : [{ pid, parent: Number(parent), session: Number(session) }]
}

// Returns the fields after the program's name, which may itself contain spaces and parentheses: state, parent, process
// group, session.
function fieldsOf(path: string): string[] {
  try {
    const stat = readFileSync(path, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
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
    // The process has ended meanwhile.
  }
}
