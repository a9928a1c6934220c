/** Servers of the system's packages, started by a test on a port and in a folder of its own. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chown, readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { removeFolder, temporaryFolder } from './folder.ts'
import { freePort } from './ports.ts'
import { isAlive, signalAll, treeOf } from './processes.ts'
import { until } from './until.ts'

interface Place {
  readonly port: number
  /** Removed with the server. */
  readonly folder: string
}

export interface TestServer extends Place {
  /** Again, after it was killed, at the same place. */
  start(): Promise<void>
  /** As if the machine had lost its power. */
  kill(): Promise<void>
  /** Takes connections and answers nothing, until it is resumed. Resolves when all its threads stand still. */
  pause(): Promise<void>
  resume(): void
  /** Kill it and remove its folder. */
  drop(): Promise<void>
}

interface Needs {
  /** The system's user it runs as if tests run as root, which it refuses. */
  readonly user?: string
  /** Puts files into the folder and gives the command that makes the rest of them, run once as that user. */
  readonly init?: (folder: string) => Promise<readonly [program: string, ...args: string[]]>
  /** Rejects until it answers. Without this it is enough that it takes connections. */
  readonly ready?: (port: number) => Promise<void>
}

/** Resolves when it is ready. Rejects with what it printed if it ends before that. */
export async function startServer(
  program: string,
  args: (place: Place) => readonly string[] | Promise<readonly string[]>,
  { user, init, ready = takesConnections }: Needs = {},
): Promise<TestServer> {
  const folder = await temporaryFolder(`salt-ts-${basename(program)}-`)
  const place = { port: await freePort(), folder }
  const owner = user !== undefined && process.getuid?.() === 0 ? identity(user) : undefined
  // What programs write elsewhere than into the folder they are told, too.
  const how = { ...owner, cwd: folder, env: { ...process.env, TMPDIR: folder, HOME: folder } }
  if (init) {
    const [maker, ...itsArgs] = await init(folder)
    if (owner) await giveTo(owner, folder)
    execFileSync(maker, itsArgs, { ...how, stdio: ['ignore', 'ignore', 'pipe'] })
  }

  let child: ChildProcess
  const start = async () => {
    child = await running(program, await args(place), how, () => ready(place.port))
  }
  const signal = (name: NodeJS.Signals) =>
    signalAll(
      treeOf(child.pid ?? 0).map(({ pid }) => pid),
      name,
    )
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const pids = treeOf(child.pid ?? 0).map(({ pid }) => pid)
    const gone = once(child, 'exit') // not before all its threads are gone, and with them its connections
    signalAll(pids, 'SIGKILL')
    await gone
    await until('the server to be gone', () => !pids.some(isAlive)) // PostgreSQL does not start beside old children
  }
  await start()
  return {
    ...place,
    start,
    kill,
    async pause() {
      signal('SIGSTOP')
      await until('the server to stand still', () =>
        treeOf(child.pid ?? 0).every(({ pid }) => isStopped(pid)),
      )
    },
    resume: () => signal('SIGCONT'),
    drop: async () => {
      await kill()
      await removeFolder(folder)
    },
  }
}

async function running(
  program: string,
  args: readonly string[],
  how: SpawnOptions,
  ready: () => Promise<void>,
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...how, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  if (child.pid === undefined) {
    const [error] = await once(child, 'error')
    throw new Error(`${program} did not start (${error.message}): install it as .ci/run does`)
  }
  let failure: unknown
  const keep = (text: Buffer) => {
    printed = `${printed}${text}`.slice(-4000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  await until(
    () => `${program} (${failure}); it printed: ${printed}`,
    async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended at once: ${printed}`)
      failure = await ready().catch((error: unknown) => error)
      return failure === undefined
    },
  )
  return child
}

async function takesConnections(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect').finally(() => socket.destroy())
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

function identity(user: string): Owner {
  const number = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: number('-u'), gid: number('-g') }
}

async function giveTo({ uid, gid }: Owner, folder: string): Promise<void> {
  await chown(folder, uid, gid)
  for (const name of await readdir(folder)) await chown(join(folder, name), uid, gid)
}

/** One that has ended stays a zombie as long as its parent stands still. */
const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    return /^[TZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  })
