/** The single measurements. Each is repeated, one master after the other, so that all meet the same machine. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fleet } from './fleet.ts'
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
): Promise<Fleet> {
  const { config } = loadMasterConfig({ configDir })
  const address = { host: '127.0.0.1', port: config.ret_port, ownTopics }
  return Fleet.open({ minions, processes, address, pkiDir: config.pki_dir })
}

/**
 * Returns per second, and processor time of the master for each until `settled`. The jobs exist: they were published to
 * these minions.
 */
export async function measureReturns(
  one: Measured,
  fleet: Fleet,
  { jobs, bytes, atOnce }: { jobs: number; bytes: number; atOnce: number },
  settled: () => Promise<void> = async () => {},
): Promise<void> {
  const returns = await fleet.prepare(await publishUnanswered(one.master, jobs), bytes)
  const before = usageOf(one.master.pid)
  const rate = await fleet.send(atOnce).catch((error) => {
    throw new Error(`${one.master.name}: ${error.message}\n${one.master.log?.().slice(-3000) ?? ''}`)
  })
  await settled()
  const after = usageOf(one.master.pid)
  add(one, 'returns', rate)
  add(one, 'return cpu', ((after.cpuSeconds - before.cpuSeconds) / returns) * 1e6)
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
export async function measureSignIns(one: Measured, minions: number, processes: number): Promise<Fleet> {
  const before = usageOf(one.master.pid)
  const started = performance.now()
  const fleet = await openFleet(one.master, minions, processes)
  add(one, 'sign-in', performance.now() - started)
  add(one, 'sign-in cpu', ((usageOf(one.master.pid).cpuSeconds - before.cpuSeconds) / minions) * 1e6)
  return fleet
}

/** From publishing `test.ping` until the returns of all simulated minions (and the real one) are here. */
export async function measurePing(one: Measured, minions: number): Promise<void> {
  const before = usageOf(one.master.pid)
  const { config } = loadMasterConfig({ configDir: one.master.configDir })
  const client = await LocalClient.connect(config)
  const started = performance.now()
  const returned = await client.cmd({ tgt: '*', fun: 'test.ping', timeout: 60 })
  add(one, 'ping', performance.now() - started)
  add(one, 'ping cpu', ((usageOf(one.master.pid).cpuSeconds - before.cpuSeconds) / minions) * 1e6)
  await client.close()
  const count = Object.values(returned).filter((value) => value === true).length
  if (count !== minions + 1) throw new Error(`${count} of ${minions + 1} minions answered test.ping`)
}

/** `cp.get_file` of a file by the real minion, as a whole command. */
export async function measureFile(one: Measured, megabytes: number): Promise<void> {
  const { config } = loadMasterConfig({ configDir: one.master.configDir })
  const root = (config.file_roots as Record<string, string[]>).base?.[0] as string
  await mkdir(root, { recursive: true })
  const file = join(root, 'large')
  await writeFile(file, randomBytes(megabytes * 1e6))
  const dest = join(one.master.configDir, 'received')
  add(
    one,
    'file',
    timeProgram([...one.master.salt, '-t', '120', one.master.minion, 'cp.get_file', 'salt://large', dest]),
  )
  await Promise.all([rm(file), rm(dest)])
}

export function measureMemory(one: Measured, figure: string): void {
  const { privateBytes, processes } = usageOf(one.master.pid)
  add(one, figure, privateBytes / 1e6)
  add(one, 'processes', processes)
}
