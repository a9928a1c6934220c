import { type Repetition, repeat } from '../../base/repeat.ts'
import { type KindName, usersStamp } from '../../loader/index.ts'

export interface ExtensionWatchSettings {
  /** Kinds of extensions that the watched processes keep loaded. */
  readonly kinds: readonly KindName[]
  /** Return the current configuration of the master. */
  config(): Readonly<Record<string, unknown>>
  /** Called when users' files were added, removed or changed: the processes have to load them again. */
  onChange(): Promise<void>
  /** Milliseconds between two checks of the folders. */
  readonly checkMs?: number
  /** Called with the error of a check. */
  onError(error: unknown): void
}

const CHECK_INTERVAL_MS = 2_000

/** Kinds of extensions that workers keep loaded. */
export const kindsLoadedByWorkers: readonly KindName[] = [
  'auth',
  'fileserver',
  'matchers',
  'modules',
  'runners',
  'wheel',
]

/** Notices files of extensions that changed since they were loaded, by a sync or by hand. */
export class ExtensionWatch {
  readonly #settings: ExtensionWatchSettings
  /** Stamp of the loaded files. */
  #loaded: string
  #seen: string | undefined
  readonly #checks: Repetition

  /** Watch for changes from now on. */
  static async open(settings: ExtensionWatchSettings): Promise<ExtensionWatch> {
    return new ExtensionWatch(settings, await usersStamp(settings.kinds, settings.config()))
  }

  private constructor(settings: ExtensionWatchSettings, loaded: string) {
    this.#settings = settings
    this.#loaded = loaded
    this.#checks = repeat(() => this.#check(), settings.checkMs ?? CHECK_INTERVAL_MS, settings.onError)
  }

  close(): void {
    void this.#checks.close()
  }

  /** Compare stamps. Reports a change once two checks agree: before that, files are still being written. */
  async #check(): Promise<void> {
    const { kinds, config, onChange } = this.#settings
    const now = await usersStamp(kinds, config())
    const isSettled = now === this.#seen
    this.#seen = now
    if (!isSettled || now === this.#loaded) return
    this.#loaded = now
    await onChange()
  }
}
