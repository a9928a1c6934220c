import { type KindName, usersStamp } from '../loader/index.ts'

export interface ExtensionWatchSettings {
  /** Kinds of extensions that a part of the master keeps loaded. */
  readonly kinds: readonly KindName[]
  /** The configuration of the master as it is now. */
  config(): Readonly<Record<string, unknown>>
  /** Called when files of users have come, gone or changed: that part has to load them anew. */
  onChange(): Promise<void>
  /** Time between two looks at the folders. Milliseconds. */
  readonly lookMs?: number
}

const LOOK_MS = 2_000

/** Kinds that workers keep loaded. */
export const inWorkers: readonly KindName[] = [
  'auth',
  'fileserver',
  'matchers',
  'modules',
  'runners',
  'wheel',
]

/** Notices files of extensions that changed since the master loaded them, by a sync or by hand. */
export class ExtensionWatch {
  readonly #settings: ExtensionWatchSettings
  readonly #looking: NodeJS.Timeout
  /** The stamp of the files that are loaded. */
  #loaded: string
  #seen: string | undefined
  #work: Promise<void> | undefined

  /** Report what changes from now on. */
  static async open(settings: ExtensionWatchSettings): Promise<ExtensionWatch> {
    return new ExtensionWatch(settings, await usersStamp(settings.kinds, settings.config()))
  }

  private constructor(settings: ExtensionWatchSettings, loaded: string) {
    this.#settings = settings
    this.#loaded = loaded
    this.#looking = setInterval(() => {
      this.#work ??= this.#look().finally(() => {
        this.#work = undefined
      })
    }, settings.lookMs ?? LOOK_MS)
    this.#looking.unref()
  }

  close(): void {
    clearInterval(this.#looking)
  }

  /** Wait for two looks that agree: files that still change are being written. */
  async #look(): Promise<void> {
    const { kinds, config, onChange } = this.#settings
    const now = await usersStamp(kinds, config())
    const isSettled = now === this.#seen
    this.#seen = now
    if (!isSettled || now === this.#loaded) return
    this.#loaded = now
    await onChange()
  }
}
