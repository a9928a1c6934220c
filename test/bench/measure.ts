/** The single measurements. Each is repeated, one master after the other, so that all meet the same machine. */
import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { returnsOf } from '../harness/returns-of.ts'
import { Fleet, type FleetSettings } from './fleet.ts'
import type { MeasuredMaster } from './masters.ts'
import { usageOf } from './processes.ts'
import { LocalClient, loadMasterConfig } from './product.ts'

export interface Measured {
  readonly master: MeasuredMaster
  readonly figures: Map<string, number[]>
}

export const add = ({ figures }: Measured, figure: string, value: number): void =>
  void figures.set(figure, [...(figures.get(figure) ?? []), value])

/** Milliseconds of a program from its start to its end. */
export function timeProgram([program, ...args]: readonly string[], { fails = false } = {}): number {
  const started = performance.now()
  const { status, stderr, error } = spawnSync(program as string, args, { encoding: 'utf8' })
  const ms = performance.now() - started
  if ((status !== 0) !== fails)
    throw error ?? new Error(`${program} ${args.join(' ')} failed (${status}): ${stderr}`)
  return ms
}

export function openFleet(
  { configDir, ownTopics }: MeasuredMaster,
  minions: number,
  processes: number,
  keys: FleetSettings['keys'] = 'known',
): Promise<Fleet> {
  const { config } = loadMasterConfig({ configDir })
  const address = { host: '127.0.0.1', port: config.ret_port, ownTopics }
  return Fleet.open({ minions, processes, address, pkiDir: config.pki_dir, keys })
}

/**
 * Returns per second, and processor time of the master for each until `settled`. The jobs exist: they were published to
 * these minions.
 */
export async function measureReturns(
  one: Measured,
  fleet: Fleet,
  { jobs, bytes, atOnce }: { jobs: number; bytes: number; atOnce: number },
  { settled = async () => {}, name = '' }: { settled?: () => Promise<void>; name?: string } = {},
): Promise<void> {
  const returns = await fleet.prepare(await publishUnanswered(one.master, jobs), bytes)
  const before = usageOf(one.master.pid)
  const rate = await fleet.send(atOnce).catch((error) => {
    throw new Error(`${one.master.name}: ${error.message}\n${one.master.log?.().slice(-3000) ?? ''}`)
  })
  await settled()
  const after = usageOf(one.master.pid)
  add(one, `returns${name}`, rate)
  add(one, `return cpu${name}`, ((after.cpuSeconds - before.cpuSeconds) / returns) * 1e6)
}

/** Jobs to which simulated minions do not listen. */
async function publishUnanswered({ configDir }: MeasuredMaster, jobs: number): Promise<string[]> {
  const client = await LocalClient.connect(loadMasterConfig({ configDir }).config)
  const jids = []
  for (let job = 0; job < jobs; job++) {
    jids.push((await client.runJob({ tgt: 'sim-*', fun: 'test.arg' })).jid)
  }
  await client.close()
  return jids
}

/** Sign in all minions of a fleet: the time of all, and the processor time of the master for each. */
export async function measureSignIns(
  one: Measured,
  { minions, processes, keys }: { minions: number; processes: number; keys: 'known' | 'new' },
): Promise<Fleet> {
  const before = usageOf(one.master.pid)
  const started = performance.now()
  const fleet = await openFleet(one.master, minions, processes, keys)
  add(one, `sign-in, ${keys} keys`, performance.now() - started)
  const used = usageOf(one.master.pid).cpuSeconds - before.cpuSeconds
  add(one, `sign-in cpu, ${keys} keys`, (used / minions) * 1e6)
  return fleet
}

/** Remove the keys of minions that signed in with new ones: they are gone, and nobody must wait for them. */
export async function removeNewKeys({ master }: Measured): Promise<void> {
  const { config } = loadMasterConfig({ configDir: master.configDir })
  const folder = join(config.pki_dir, 'minions')
  const ids = (await readdir(folder)).filter((id) => id.startsWith('new-'))
  await Promise.all(ids.map((id) => rm(join(folder, id))))
}

/** From publishing `test.ping` until the returns of all simulated minions (and the real one) are here. */
export async function measurePing(one: Measured, minions: number): Promise<void> {
  const before = usageOf(one.master.pid)
  const { config } = loadMasterConfig({ configDir: one.master.configDir })
  const client = await LocalClient.connect(config)
  const started = performance.now()
  const returned = await returnsOf(client, { tgt: '*', fun: 'test.ping', timeout: 60 })
  add(one, 'ping', performance.now() - started)
  add(one, 'ping cpu', ((usageOf(one.master.pid).cpuSeconds - before.cpuSeconds) / minions) * 1e6)
  await client.close()
  const count = Object.values(returned).filter((value) => value === true).length
  if (count !== minions + 1) throw new Error(`${count} of ${minions + 1} minions answered test.ping`)
}

/**
 * `cp.get_file` of a file by the real minion, as a whole command, and the memory that the master and the minion have besides what
 * they had before, at most.
 */
export async function measureFile(one: Measured, megabytes: number): Promise<void> {
  const { programs, minion, pid, minionPid } = one.master
  const root = await fileRoot(one)
  const file = join(root, 'large')
  await writeFile(file, Buffer.alloc(megabytes * 1e6, randomBytes(1e6)))
  const dest = join(one.master.configDir, 'received')
  const memory = [watchMemory(pid), watchMemory(minionPid)] as const
  const words = ['-t', '300', minion, 'cp.get_file', 'salt://large', dest]
  add(one, 'file', await timeWatched([...programs.salt, ...words]))
  add(one, 'file memory of the master', memory[0]() / 1e6)
  add(one, 'file memory of the minion', memory[1]() / 1e6)
  await Promise.all([rm(file), rm(dest)])
}

const SMALL_FILES = 700

/** `cp.get_dir` of many small files, as a whole command. */
export async function measureSmallFiles(one: Measured): Promise<void> {
  const { programs, minion } = one.master
  const folder = join(await fileRoot(one), 'small')
  await mkdir(folder, { recursive: true })
  for (let n = 0; n < SMALL_FILES; n++) await writeFile(join(folder, `file${n}`), randomBytes(2000))
  const dest = join(one.master.configDir, 'received-small')
  await mkdir(dest)
  const words = ['-t', '300', minion, 'cp.get_dir', 'salt://small', dest]
  add(one, 'small files', timeProgram([...programs.salt, ...words]))
  await Promise.all([folder, dest].map((path) => rm(path, { recursive: true })))
}

async function fileRoot({ master }: Measured): Promise<string> {
  const { config } = loadMasterConfig({ configDir: master.configDir })
  const root = (config.file_roots as Record<string, string[]>).base?.[0] as string
  await mkdir(root, { recursive: true })
  return root
}

const SAMPLE_MS = 100

/** Sample the private memory of a process and all below it. The returned function ends that, and gives by how many bytes it grew. */
function watchMemory(pid: number): () => number {
  const before = usageOf(pid).privateBytes
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, usageOf(pid).privateBytes)
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return most - before
  }
}

/** As `timeProgram`, but this process goes on meanwhile. */
async function timeWatched([program, ...args]: readonly string[]): Promise<number> {
  const started = performance.now()
  await promisify(execFile)(program as string, args)
  return performance.now() - started
}

export function measureMemory(one: Measured, figure: string): void {
  const { privateBytes, processes } = usageOf(one.master.pid)
  add(one, figure, privateBytes / 1e6)
  add(one, 'processes', processes)
}
