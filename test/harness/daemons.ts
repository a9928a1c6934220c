/** Real processes: masters, minions and commands, each with its state in a folder of its own under a temporary one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { LocalClient } from '../../core/client/index.ts'
import { loadMasterConfig, type MasterConfig } from '../../core/config/index.ts'
import { EventBus, masterEventSockets } from '../../core/events/index.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './ports.ts'
import { giveKey } from './private-keys.ts'
import { isAlive, type ProcessInfo, signalAll, withEnvironment } from './processes.ts'
import { type Finished, type ProgramHere, runHere } from './run-here.ts'
import { until } from './until.ts'

export const bin = fileURLToPath(new URL('../../bin/', import.meta.url))

type Options = Record<string, unknown>

/** After so long a daemon that was told to stop is killed, so that it does not outlive the tests, and the test fails. */
const STOP_MS = 30_000

/** Set in the environment of a daemon, and so of all it starts, to its program and folder. */
const MARK = 'SALT_TEST_DAEMON'

/** Run one of our programs to its end. */
export async function run(program: string, args: readonly string[], input?: string): Promise<Finished> {
  const started = performance.now()
  const child = spawn(process.execPath, [join(bin, program), ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(input ?? '')
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { stdout, stderr, code, ms: performance.now() - started }
}

export class Daemon {
  readonly directory: string
  readonly program: string
  readonly options: Options
  output = ''
  /** Folder of the programs of salt-ts that it is one of. */
  programs = bin
  #child: ChildProcess | undefined

  constructor(program: string, directory: string, options: Options) {
    this.program = program
    this.directory = directory
    this.options = options
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get exitCode(): number | null {
    return this.#child?.exitCode ?? null
  }

  async writeConfig(extra: Options = {}): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    const file = join(this.directory, this.program.replace('salt-', ''))
    await writeFile(file, stringify({ ...this.options, ...extra }), { mode: 0o600 })
  }

  /** `within`: a program, with its first arguments, that becomes the one that is named after them. */
  start(level = 'info', within: readonly string[] = []): void {
    const own = [join(this.programs, this.program), '-c', this.directory, '-l', level]
    const [program = '', ...words] = [...within, ...own]
    const child = spawn(program, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [MARK]: this.#mark },
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (this.output += text))
    }
  }

  exited(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    return new Promise((done) => child.once('exit', () => done()))
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const gone = this.exited()
    this.#child?.kill(signal)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#child?.kill('SIGKILL')
    }, STOP_MS)
    await gone
    clearTimeout(timer)
    if (isLate)
      throw new Error(`${this.program} did not stop within ${STOP_MS} ms:\n${this.output.slice(-2000)}`)
  }

  /** The daemon and all it started, orphans among it, as far as they live. */
  processes(): ProcessInfo[] {
    return withEnvironment(MARK, this.#mark)
  }

  get #mark(): string {
    return `${this.program} ${this.directory}`
  }

  /** SIGKILL for the daemon and all it started, at once. */
  async killAll(): Promise<void> {
    const gone = this.exited()
    const pids = this.processes().map(({ pid }) => pid)
    signalAll(pids, 'SIGKILL')
    await gone
    await until('the killed processes to be gone', () => !pids.some(isAlive))
  }

  /** Wait until the daemon has logged this. */
  logged(text: string): Promise<true> {
    return until(
      () => `"${text}" in the log of ${this.program}:\n${this.output.slice(-2000)}`,
      () => {
        if (this.output.includes(text)) return true
        if (this.exitCode !== null)
          throw new Error(`${this.program} ended (${this.exitCode}):\n${this.output}`)
        return undefined
      },
    )
  }
}

/** Longer than any test, in seconds. A report of the modules costs as much as all that most tests do. */
const NEVER_S = 3600
/** Of a minion that reports its modules to the master at once, in tests of what the master does with them. */
export const reportsModules = { catalogue_idle_time: 0 }

/** Of a minion in tests of something else than jobs: it runs them itself, and starts no processes for them. */
export const jobsWithin = { multiprocessing: false }

/** A master and its minions. */
export class Cluster {
  readonly root: string
  readonly master: Daemon
  readonly minions = new Map<string, Daemon>()
  readonly syndics: Daemon[] = []
  readonly ports: { readonly publish: number; readonly request: number }

  private constructor(root: string, master: Daemon, ports: Cluster['ports']) {
    this.root = root
    this.master = master
    this.ports = ports
  }

  static async open(
    options: {
      minions?: readonly string[]
      master?: Options
      minion?: Options
      /** What the master is started within, at first (see `Daemon.start`). */
      within?: readonly string[]
      /** With `false` its configuration and its key are written, and `startMaster` starts it; it then has no minions yet. */
      start?: boolean
    } = {},
  ): Promise<Cluster> {
    const root = await temporaryFolder('salt-')
    const ports = { publish: await freePort(), request: await freePort() }
    const master = new Daemon('salt-master', join(root, 'master'), {
      ...paths(join(root, 'master')),
      interface: '127.0.0.1',
      publish_port: ports.publish,
      ret_port: ports.request,
      auto_accept: true,
      // A worker is a process: most tests need no second one. Those that do say so.
      worker_threads: 1,
      ...options.master,
    })
    const cluster = new Cluster(root, master, ports)
    await master.writeConfig()
    await giveKey(join(master.directory, 'pki'), 'master')
    if (options.start === false) return cluster
    await cluster.startMaster(options.within)
    await Promise.all((options.minions ?? []).map((id) => cluster.addMinion(id, options.minion)))
    return cluster
  }

  get configDir(): string {
    return this.master.directory
  }

  async startMaster(within: readonly string[] = [], level = 'info'): Promise<void> {
    this.master.output = ''
    this.master.start(level, within)
    await this.master.logged('salt-master is ready')
  }

  /** Give the master, which must not run, another key. */
  async writeMasterKey(pem: Uint8Array): Promise<void> {
    const path = join(this.master.directory, 'pki', 'master.pem')
    await rm(path, { force: true })
    await writeFile(path, pem, { mode: 0o400 })
  }

  minionDaemon(id: string, options: Options = {}): Daemon {
    const directory = join(this.root, id)
    return new Daemon('salt-minion', directory, {
      ...paths(directory),
      id,
      master: '127.0.0.1',
      master_port: this.ports.request,
      acceptance_wait_time: 1,
      random_reauth_delay: 1,
      catalogue_idle_time: NEVER_S,
      recon_default: 100,
      recon_max: 500,
      return_retry_timer: 1,
      return_retry_timer_max: 2,
      ...options,
    })
  }

  async addMinion(id: string, options: Options = {}): Promise<Daemon> {
    const minion = await this.startMinion(id, options)
    await minion.logged('is ready to receive jobs')
    return minion
  }

  /** Start a minion that need not be accepted. */
  async startMinion(id: string, options: Options = {}): Promise<Daemon> {
    const minion = this.minionDaemon(id, options)
    await this.prepareMinion(minion)
    minion.start()
    return minion
  }

  /** Give a minion its configuration and a key; it is stopped when the cluster is closed. */
  async prepareMinion(minion: Daemon): Promise<void> {
    this.minions.set(String(minion.options.id), minion)
    await minion.writeConfig()
    await giveKey(join(minion.directory, 'pki'), 'minion')
  }

  /** Start a syndic beside the master, whose configuration names a master above it. Stopped when the cluster is closed. */
  async addSyndic(id: string, options: Options = {}): Promise<Daemon> {
    const syndic = new Daemon('salt-syndic', this.configDir, {})
    await writeFile(
      join(this.configDir, 'minion'),
      stringify({
        ...paths(this.configDir),
        id,
        acceptance_wait_time: 1,
        recon_default: 100,
        recon_max: 500,
        ...options,
      }),
      { mode: 0o600 },
    )
    await giveKey(join(this.configDir, 'pki'), 'minion')
    this.syndics.push(syndic)
    syndic.start()
    await syndic.logged('is ready to receive jobs')
    return syndic
  }

  /** `salt -c <config> …`, in this process (see `runHere`). */
  salt(...args: string[]): Promise<Finished> {
    return this.command('salt', ...args)
  }

  command(program: ProgramHere, ...args: string[]): Promise<Finished> {
    return runHere(program, ['-c', this.configDir, ...args])
  }

  /** The same as a process of its own, where that is what a test is about. */
  spawned(program: string, ...args: string[]): Promise<Finished> {
    return run(program, ['-c', this.configDir, ...args])
  }

  get config(): MasterConfig {
    return loadMasterConfig({ configDir: this.configDir }).config
  }

  events(): Promise<EventBus> {
    return EventBus.connect(masterEventSockets(this.config))
  }

  client(): Promise<LocalClient> {
    return LocalClient.connect(this.config)
  }

  async close(): Promise<void> {
    await Promise.all([...this.minions.values(), ...this.syndics].map((daemon) => daemon.stop()))
    await this.master.stop()
    for (const daemon of [this.master, ...this.minions.values(), ...this.syndics]) await daemon.killAll()
    await rm(this.root, { recursive: true, force: true })
  }
}

function paths(directory: string): Options {
  return {
    root_dir: directory,
    user: process.env.USER || 'root',
    pki_dir: '/pki',
    cachedir: '/cache',
    sock_dir: '/run',
    log_file: '/log',
    pidfile: '/pid',
  }
}
