import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { deferred } from '../../base/deferred.ts'
import { SaltError } from '../../base/errors.ts'
import { LoadWatch } from '../../loader/index.ts'
import { Child } from '../../process/child.ts'
import { killGroup } from '../../process/kill-group.ts'
import { processEntry } from '../../process/process-entry.ts'
import { exitCodes } from '../exit-codes.ts'
import type { FleetSettings, FromSession, ToSession } from './messages.ts'

export interface SessionSettings {
  readonly fleet: FleetSettings
  /** A temporary folder. */
  readonly folder: string
  /** Environment variables besides those of this process. */
  readonly env: Readonly<Record<string, string>>
  /** Called with text for the author. */
  onNote(text: string): void
  /** Called when the tables of the completion are written, first soon after the start. */
  onWords(): void
}

type SessionChild = Child<ToSession, FromSession>

/** How long the process has to end before it is killed, and if it has to remove files from the minion of a real master. */
const STOP_MS = 3000
const STOP_REAL_MS = 30_000
/** A file that takes longer to load is reported: it may never end. */
const LONG_LOAD_MS = 5000
/** The longest time that a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * The process with the master, the minions and the author's functions. It is a process of its own so that a function that loops
 * forever, or ends its process, does not end the prompt: the process is started again.
 */
export class Session {
  readonly #settings: SessionSettings
  readonly #failure = deferred<never>()
  /** Rejects if the process cannot start. */
  readonly failed: Promise<never> = this.#failure.promise
  #child!: SessionChild
  #ready: Promise<boolean>
  /** Resolves when the process has loaded all files once. */
  #firstLoad: Promise<unknown> = Promise.resolve()
  #isClosing = false
  /** The process that was asked to end. */
  #ending: SessionChild | undefined
  #loads: LoadWatch | undefined
  /** Keys of loads that take long. */
  readonly #longLoads = new Set<string>()
  #stuck = deferred()

  constructor(settings: SessionSettings) {
    this.#settings = settings
    this.failed.catch(() => undefined)
    this.#ready = this.#start()
  }

  /** Resolves when functions can be run. */
  get ready(): Promise<boolean> {
    return this.#ready
  }

  /** The folder of the master's configuration, for `-c`. */
  get configDir(): string {
    const { minions } = this.#settings.fleet
    return typeof minions === 'number' ? this.#root : minions.configDir
  }

  /** The folder for the tables of the completion. */
  get completionCache(): string {
    return path.join(this.#settings.folder, 'completion')
  }

  /** The folder for the files of the process. */
  get #root(): string {
    return path.join(this.#settings.folder, 'fleet')
  }

  /** Whether a file has been loading for so long that it may never end. */
  get isStuck(): boolean {
    return this.#longLoads.size > 0
  }

  /** Resolves when a file has been loading for so long. */
  get stuck(): Promise<void> {
    return this.#stuck.promise
  }

  /** Resolves when all files have been loaded once. */
  get loaded(): Promise<unknown> {
    return this.#firstLoad
  }

  /** Run what was typed. Resolves with its exit code when its output is written, or with that of Ctrl-C if the process ends. */
  async run(words: readonly string[]): Promise<number> {
    await this.#ready
    const ran = this.#child.next('ran', LONGEST_MS)
    this.#child.send({ type: 'run', words })
    return (await ran)?.code ?? exitCodes.interrupted
  }

  /**
   * Use changed files. Resolves with the number of files that do not load; undefined if the process ends meanwhile, since the next
   * one uses them anyway.
   */
  async reload(grains: boolean): Promise<number | undefined> {
    await this.#ready
    await this.#firstLoad
    const loaded = this.#child.next('loaded', LONGEST_MS)
    this.#child.send({ type: 'reload', grains })
    return (await loaded)?.failing
  }

  /** End the process with all that runs in it, and start another. */
  async restart(): Promise<void> {
    this.#ready = this.#startAgain()
    await this.#ready
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#loads?.close()
    await this.#end(typeof this.#settings.fleet.minions === 'number' ? STOP_MS : STOP_REAL_MS)
  }

  async #startAgain(): Promise<boolean> {
    await this.#end(0)
    return !this.#isClosing && this.#start()
  }

  /** Resolves with whether the process is ready. */
  async #start(): Promise<boolean> {
    const { fleet, env } = this.#settings
    this.#loads?.close()
    this.#loads = new LoadWatch(LONG_LOAD_MS, (key, _reason, file) => this.#onLongLoad(key, file))
    this.#longLoads.clear()
    const child: SessionChild = new Child({
      entry: processEntry('cli/dev/session-process'),
      env: { ...process.env, ...env },
      detached: true,
      onMessage: (message) => child === this.#child && this.#onMessage(message),
      onEnd: () => void this.#onEnd(child),
    })
    this.#child = child
    this.#firstLoad = child.next('loaded', LONGEST_MS)
    const ready = child.next('ready', LONGEST_MS)
    mkdirSync(this.#root, { mode: 0o700 })
    child.send({ type: 'open', root: this.#root, completionCache: this.completionCache, settings: fleet })
    return (await ready) !== undefined
  }

  #onMessage(message: FromSession): void {
    if (message.type === 'loading') {
      if (message.over) this.#longLoads.delete(message.key)
      this.#loads?.heard(message)
    } else if (message.type === 'refused')
      this.#failure.reject(new SaltError('COMMAND_EXECUTION', message.message))
    else if (message.type === 'words') this.#settings.onWords()
    else if (message.type === 'failure' || message.type === 'note') this.#settings.onNote(message.text)
  }

  #onLongLoad(key: string, file: string): void {
    this.#longLoads.add(key)
    this.#stuck.resolve()
    this.#stuck = deferred()
    const shown = path.relative(this.#settings.fleet.folder, file)
    this.#settings.onNote(
      `${shown} has been loading for ${LONG_LOAD_MS / 1000} s: it may loop forever, or wait for what never happens, at its top level. ` +
        'Move that into a function. When you save a file, the master and the minions start again.',
    )
  }

  async #onEnd(child: SessionChild): Promise<void> {
    if (child === this.#ending) return
    const wasReady = await this.#ready
    if (wasReady) this.#ready = this.#startAgain()
    const how = `The process of the master and the minions ${await child.howItEnded()}`
    if (wasReady) this.#settings.onNote(`${how}; it starts again.`)
    else this.#failure.reject(new SaltError('COMMAND_EXECUTION', `${how}.`))
  }

  /** End the process within a time, and all programs that functions have started. */
  async #end(ms: number): Promise<void> {
    const child = this.#child
    this.#ending = child
    if (ms === 0) child.kill('SIGKILL')
    else await child.stop({ type: 'stop' }, ms)
    await child.ended
    killGroup(child.pid)
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 })
  }
}
