/** What the processes of a master and its minions use, sample by sample. */
import { readFileSync } from 'node:fs'
import type { Daemon } from '../harness/daemons.ts'
import { scrape } from '../harness/exposition.ts'
import { type ProcessInfo, treeOf, usageOf } from '../harness/processes.ts'

export interface Sample {
  /** Since the start of the run. */
  readonly seconds: number
  readonly residentMegabytes: number
  /**
   * Memory of its own, in RAM or swapped out. This is judged, and not all that is resident: pages of the mapped store and of
   * Node's program are part of that as long as nobody else wants the RAM, so it grows with the store and with nothing leaked.
   */
  readonly ownMegabytes: number
  readonly descriptors: number
  readonly threads: number
  /** The longest delay of the event loop since the last sample; only of processes that serve metrics. */
  readonly delayMs?: number
  /** The same without the time in which the process was ready to run and others had the processors. */
  readonly ownDelayMs?: number
}

/** The samples of one process. */
export interface Series {
  readonly name: string
  readonly pid: number
  readonly samples: Sample[]
}

/** A daemon, by the name that its processes have in the report. */
export interface Watched {
  readonly name: string
  readonly daemon: Daemon
  readonly metricsPort: number
}

export class Samples {
  readonly #watched: readonly Watched[]
  readonly #start = performance.now()
  readonly #series = new Map<string, Series>()
  /** How long each process has waited for a processor until its last sample. */
  readonly #waited = new Map<number, number>()

  constructor(watched: readonly Watched[]) {
    this.#watched = watched
  }

  /** By name. */
  get series(): Series[] {
    return [...this.#series.values()].sort((a, b) => a.name.localeCompare(b.name))
  }

  async take(): Promise<void> {
    await Promise.all(this.#watched.map((one) => this.#takeOf(one)))
  }

  async #takeOf({ name, daemon, metricsPort }: Watched): Promise<void> {
    const delays = await readDelays(metricsPort)
    const seconds = (performance.now() - this.#start) / 1000
    for (const info of treeOf(daemon.pid)) {
      const role = roleOf(info, daemon.pid, name)
      const usage = role === undefined ? undefined : readUsage(info.pid)
      if (role === undefined || !usage) continue
      const { waitedMs, ...rest } = usage
      const before = this.#waited.get(info.pid)
      this.#waited.set(info.pid, waitedMs)
      const delayMs = delays.get(role.label)
      const isTold = delayMs !== undefined && before !== undefined
      const ownDelayMs = isTold ? Math.max(0, delayMs - (waitedMs - before)) : undefined
      this.#add(role.name, info.pid, {
        seconds,
        ...rest,
        ...(ownDelayMs !== undefined && { delayMs, ownDelayMs }),
      })
    }
  }

  #add(name: string, pid: number, sample: Sample): void {
    const key = `${name} ${pid}`
    const series = this.#series.get(key) ?? { name, pid, samples: [] }
    this.#series.set(key, series)
    series.samples.push(sample)
  }
}

interface Role {
  /** In the report. */
  readonly name: string
  /** In metrics. */
  readonly label: string
}

/**
 * What a process is there for, by its title, or by its program until it has set one. Undefined: it has ended, is a command of a
 * job, or is just being started.
 */
function roleOf({ pid, state, command }: ProcessInfo, root: number, daemon: string): Role | undefined {
  if (state === 'Z') return undefined
  if (pid === root)
    return daemon === 'master'
      ? { name: 'master supervisor', label: 'supervisor' }
      : { name: daemon, label: 'minion' }
  const title = command.replace(/ \d{20}$/, '') // the job that it runs
  const [, label] = /^salt\S* (.+)$/.exec(title) ?? /^\S*node .*\/([\w-]+)\.c?js(?: |$)/.exec(title) ?? []
  return label === undefined ? undefined : { name: `${daemon} ${label}`, label }
}

/** Delays of event loops by process, milliseconds. None if the daemon does not answer, as while it is restarted. */
async function readDelays(port: number): Promise<ReadonlyMap<string, number>> {
  const { families } = await scrape(port).catch(() => ({ families: undefined }))
  const { samples = [] } = families?.get('salt_process_event_loop_lag_seconds') ?? {}
  return new Map(samples.map(({ labels, value }) => [labels.process ?? '', value * 1000]))
}

/** Undefined if the process is gone. */
function readUsage(pid: number) {
  try {
    const { residentBytes, ownBytes, descriptors, threads } = usageOf(pid)
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return {
      residentMegabytes: residentBytes / 1e6,
      ownMegabytes: ownBytes / 1e6,
      descriptors,
      threads,
      waitedMs: Number(waited) / 1e6,
    }
  } catch {
    return undefined
  }
}
