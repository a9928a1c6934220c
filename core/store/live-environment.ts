import { SaltError } from '../base/errors.ts'
import { commitFailed, commitFailureReason, isUsable } from './commit-failure.ts'
import { type Environment, type EnvironmentSettings, openEnvironment } from './environment.ts'
import { commitOrKill } from './exit-guard.ts'
import { FullDiskGuard } from './full-disk.ts'
import { clearAbandoned, isAbandoned, moveRecords } from './move-records.ts'
import { OpenFile } from './open-file.ts'

/** Interval of checks of the file, without reads and writes. */
const CHECK_MS = 2000
/** Shortest interval of checks before reads. */
const READ_CHECK_MS = 50

/**
 * The LMDB environment of a path, even if the file is removed, replaced or truncated while it is in use. A removed file is
 * created again, a replacing file is adopted; both receive all records of the previous file. A truncated file is repaired.
 */
export class FollowedEnvironment {
  readonly #path: string
  readonly #settings: EnvironmentSettings
  readonly #onDamage: (error: SaltError) => void
  readonly #timer: NodeJS.Timeout
  #environment: Environment
  #file: OpenFile
  #lastCheck = 0
  /** The environment with the transaction of the running change. */
  #changing: Environment | undefined
  #moving: Promise<void> | undefined
  /** Number of times that the file was replaced because it was truncated. A commit during which this changes is lost. */
  #cuts = 0
  readonly #fullDisk: FullDiskGuard
  /** The last reported reason why the file cannot be restored. */
  #reported = ''

  constructor(path: string, settings: EnvironmentSettings, onDamage: (error: SaltError) => void) {
    this.#path = path
    this.#fullDisk = new FullDiskGuard(path)
    this.#settings = settings
    this.#onDamage = onDamage
    this.#environment = openEnvironment(path, settings, onDamage)
    this.#file = new OpenFile(path)
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref()
  }

  /** Return the environment for one read, or for the operations of a change. */
  current(): Environment {
    if (this.#changing) return this.#changing
    const now = performance.now()
    if (now - this.#lastCheck > READ_CHECK_MS) {
      this.#lastCheck = now
      if (this.#file.state() === 'cut') this.#replaceCut()
    }
    return this.#environment
  }

  /**
   * Run changes in one transaction. Resolves when it is on disk, in the file at the path. Rejects with SaltError
   * STORE_FAILED: nothing is stored then, unless restoring the file failed.
   */
  async commit(run: () => void): Promise<void> {
    this.#fullDisk.refuse()
    try {
      await this.#makeWhole()
      while (!(await this.#tryToCommit(run))) await this.#follow()
      await this.#makeWhole()
    } catch (error) {
      if (SaltError.is(error)) throw error
      const reason = await commitFailureReason(error)
      if (!isUsable(this.#environment)) await this.#reopen()
      this.#fullDisk.failed()
      throw commitFailed(this.#path, reason)
    }
  }

  /** Wait for pending changes, and close the environment. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#moving?.catch(() => undefined)
    await this.#environment.close()
    this.#file.close()
  }

  /**
   * Run changes in a transaction. Returns false, and does nothing, if other processes have abandoned the file, or the transaction
   * would replace their latest commit.
   */
  async #tryToCommit(run: () => void): Promise<boolean> {
    const environment = this.#environment
    const cuts = this.#cuts
    let left = false
    await commitOrKill(() =>
      environment.transaction(() => {
        left = isAbandoned(environment) || !this.#file.isFollowedBy(environment.getWriteTxnId())
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

  /** Follow processes that have abandoned the file; or continue with it if it was moved back to its path. */
  async #follow(): Promise<void> {
    await this.#makeWhole()
    const [environment, file] = [this.#environment, this.#file]
    await environment.transaction(() => {
      if (isAbandoned(environment) && file.isFollowedBy(environment.getWriteTxnId()))
        clearAbandoned(environment)
    })
  }

  async #makeWhole(): Promise<void> {
    for (;;) {
      const state = this.#file.state()
      if (state === 'whole') return
      if (state === 'cut') this.#replaceCut()
      else await this.#move()
    }
  }

  /** Move to the file that is at the path now, or to a new one. */
  #move(): Promise<void> {
    this.#moving ??= this.#carryOver().finally(() => {
      this.#moving = undefined
    })
    return this.#moving
  }

  async #carryOver(): Promise<void> {
    const [old, left] = [this.#environment, this.#file]
    const fresh = openEnvironment(this.#path, this.#settings, this.#onDamage, left)
    if (left.state() === 'whole') return fresh.close() // it was moved back to its path
    const file = new OpenFile(this.#path)
    const moved = await moveRecords(old, fresh, file).catch(async (error) => {
      file.close()
      await fresh.close()
      throw error
    })
    ;[this.#environment, this.#file] = [fresh, file]
    await old.close()
    left.close()
    if (moved !== undefined) this.#onDamage(wasGone(this.#path, moved))
  }

  /** Replace a truncated file. Synchronous, since the next read of the old environment could crash the process. */
  #replaceCut(): void {
    const [old, left] = [this.#environment, this.#file]
    this.#cuts++
    this.#environment = openEnvironment(this.#path, this.#settings, this.#onDamage, left)
    this.#file = new OpenFile(this.#path)
    left.close()
    void old.close().catch(() => undefined)
  }

  /** Open the file again: after some failures LMDB refuses everything until then. */
  async #reopen(): Promise<void> {
    await this.#environment.close().catch(() => undefined)
    this.#environment = openEnvironment(this.#path, this.#settings, this.#onDamage)
    this.#file.close()
    this.#file = new OpenFile(this.#path)
  }

  async #check(): Promise<void> {
    try {
      await this.#makeWhole()
      this.#reported = ''
    } catch (error) {
      const damage = SaltError.is(error) ? error : commitFailed(this.#path, await commitFailureReason(error))
      if (damage.message !== this.#reported) this.#onDamage(damage)
      this.#reported = damage.message
    }
  }
}

const wasGone = (path: string, records: number): SaltError =>
  new SaltError(
    'STORE_FAILED',
    `The store ${path} was removed, or replaced by another file, while it was in use. It has been restored with the ` +
      `${records} records that were missing. Stop the processes that use a store before you remove or replace its file.`,
    { path, records },
  )
