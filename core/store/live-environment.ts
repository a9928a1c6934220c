import { SaltError } from '../base/errors.ts'
import { carryOver, isLeft, stay } from './carry-over.ts'
import { commitFailed, isUsable, reasonOf } from './commit-failure.ts'
import { type Environment, type EnvironmentSettings, openEnvironment } from './environment.ts'
import { guardCommit } from './exit-guard.ts'
import { FullDisk } from './full-disk.ts'
import { OpenFile } from './open-file.ts'

/** How often a file is looked at where nobody writes to it, and for reads. Milliseconds. */
const LOOK_MS = 2000
const READ_LOOK_MS = 50

/**
 * LMDB's environment of a path, also after somebody removed, replaced or cut the file under it. A file that was removed or
 * replaced is made again, or the other is taken, with all records of the one before; one that was cut is repaired.
 */
export class LiveEnvironment {
  readonly #path: string
  readonly #settings: EnvironmentSettings
  readonly #onDamage: (error: SaltError) => void
  readonly #looking: NodeJS.Timeout
  #environment: Environment
  #file: OpenFile
  #looked = 0
  /** While a change runs, whatever it does belongs to the transaction of this one. */
  #changing: Environment | undefined
  #moving: Promise<void> | undefined
  /** How often the file was replaced because it had lost its end, and with it what was written to it. */
  #cuts = 0
  /** A commit has failed, because the disk is full. */
  readonly #fullDisk: FullDisk
  /** Why the file cannot be made again, as it was told last. */
  #told = ''

  constructor(path: string, settings: EnvironmentSettings, onDamage: (error: SaltError) => void) {
    this.#path = path
    this.#fullDisk = new FullDisk(path)
    this.#settings = settings
    this.#onDamage = onDamage
    this.#environment = openEnvironment(path, settings, onDamage)
    this.#file = new OpenFile(path)
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  /** For one read, or for what a change does. */
  current(): Environment {
    if (this.#changing) return this.#changing
    const now = performance.now()
    if (now - this.#looked > READ_LOOK_MS) {
      this.#looked = now
      if (this.#file.state() === 'cut') this.#replaceCut()
    }
    return this.#environment
  }

  /**
   * Run changes in one transaction. Resolves when it is on disk, in a file that the path leads to.
   * Rejects with SaltError STORE_FAILED: nothing of it is stored then, unless it was the file that could not be made again.
   */
  async commit(run: () => void): Promise<void> {
    this.#fullDisk.refuse()
    try {
      await this.#makeWhole()
      while (!(await this.#tryToCommit(run))) await this.#follow()
      await this.#makeWhole()
    } catch (error) {
      if (SaltError.is(error)) throw error
      const reason = await reasonOf(error)
      if (!isUsable(this.#environment)) await this.#reopen()
      this.#fullDisk.failed()
      throw commitFailed(this.#path, reason)
    }
  }

  /** Waits for changes under way. */
  async close(): Promise<void> {
    clearInterval(this.#looking)
    await this.#moving?.catch(() => undefined)
    await this.#environment.close()
    this.#file.close()
  }

  /** False, and nothing was done, if other processes have left the file. */
  async #tryToCommit(run: () => void): Promise<boolean> {
    const environment = this.#environment
    const cuts = this.#cuts
    let left = false
    await guardCommit(() =>
      environment.transaction(() => {
        left = isLeft(environment)
        if (!left) this.#change(environment, run)
      }),
    )
    const wasCut = cuts !== this.#cuts || (environment === this.#environment && this.#file.state() === 'cut')
    if (wasCut) throw new Error('its file became shorter meanwhile')
    return !left
  }

  #change(environment: Environment, run: () => void): void {
    this.#changing = environment
    try {
      run()
    } finally {
      this.#changing = undefined
    }
  }

  /** After others have left the file: to where they went, or on with this one if somebody has put it back. */
  async #follow(): Promise<void> {
    await this.#makeWhole()
    const environment = this.#environment
    await environment.transaction(() => stay(environment))
  }

  async #makeWhole(): Promise<void> {
    for (;;) {
      const state = this.#file.state()
      if (state === 'whole') return
      if (state === 'cut') this.#replaceCut()
      else await this.#move()
    }
  }

  /** To the file that is under the path now, or a new one. */
  #move(): Promise<void> {
    this.#moving ??= this.#carryOver().finally(() => {
      this.#moving = undefined
    })
    return this.#moving
  }

  async #carryOver(): Promise<void> {
    const [old, left] = [this.#environment, this.#file]
    const fresh = openEnvironment(this.#path, this.#settings, this.#onDamage, left)
    if (left.state() === 'whole') return fresh.close() // somebody has put it back
    const file = new OpenFile(this.#path)
    const carried = await carryOver(old, fresh).catch(async (error) => {
      file.close()
      await fresh.close()
      throw error
    })
    ;[this.#environment, this.#file] = [fresh, file]
    await old.close()
    left.close()
    if (carried !== undefined) this.#onDamage(wasGone(this.#path, carried))
  }

  /** At once, for whoever reads: the environment must not be looked at any more. */
  #replaceCut(): void {
    const [old, left] = [this.#environment, this.#file]
    this.#cuts++
    this.#environment = openEnvironment(this.#path, this.#settings, this.#onDamage, left)
    this.#file = new OpenFile(this.#path)
    left.close()
    void old.close().catch(() => undefined)
  }

  /** After some failures LMDB refuses everything until the file is opened anew. */
  async #reopen(): Promise<void> {
    await this.#environment.close().catch(() => undefined)
    this.#environment = openEnvironment(this.#path, this.#settings, this.#onDamage)
    this.#file.close()
    this.#file = new OpenFile(this.#path)
  }

  async #look(): Promise<void> {
    try {
      await this.#makeWhole()
      this.#told = ''
    } catch (error) {
      const damage = SaltError.is(error) ? error : commitFailed(this.#path, await reasonOf(error))
      if (damage.message !== this.#told) this.#onDamage(damage)
      this.#told = damage.message
    }
  }
}

const wasGone = (path: string, records: number): SaltError =>
  new SaltError(
    'STORE_FAILED',
    `The store ${path} was removed, or replaced by another file, while it was in use. It is there again, with the ` +
      `${records} records that it had and that were missing. Stop who uses a store before you remove or replace its file.`,
    { path, records },
  )
