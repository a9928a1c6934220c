/** Reads the settings of backends from the configuration. */

type Values = Readonly<Record<string, unknown>>

/** All problems found in the settings. */
class SettingsError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join(' '))
    this.problems = problems
  }
}

/** Reads settings one by one. Collects the problems and reports them all at once. */
export class Settings {
  readonly #prefix: string
  readonly #values: Values
  readonly #problems: string[] = []

  constructor(prefix: string, values: Values) {
    this.#prefix = prefix
    this.#values = values
  }

  /** Report the setting if it is missing; the empty text that is then returned is never used. */
  needed(name: string): string {
    if (this.#get(name) === undefined) this.refuse(name, 'is missing')
    return this.text(name) ?? ''
  }

  text(name: string): string | undefined {
    const value = this.#get(name)
    if (value === undefined || typeof value === 'string') return value
    this.refuse(name, 'must be text, in quotes if it looks like something else')
    return undefined
  }

  texts(name: string): readonly string[] {
    const value = this.#get(name) ?? []
    const list = Array.isArray(value) ? value : [value]
    if (list.every((one) => typeof one === 'string')) return list
    this.refuse(name, 'must be text or a list of text')
    return []
  }

  /** Read an integer. Salt's examples have some numbers in quotes. */
  integer(name: string, fallback: number, [minimum, maximum]: readonly [number, number]): number {
    const value = Number(this.#get(name) ?? fallback)
    if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
    this.refuse(name, `must be a whole number from ${minimum} to ${maximum}`)
    return fallback
  }

  seconds(name: string, fallback: number): number {
    const value = Number(this.#get(name) ?? fallback)
    if (value > 0 && value <= 600) return value
    this.refuse(name, 'must be a number of seconds, more than 0 and at most 600')
    return fallback
  }

  flag(name: string): boolean {
    const value = this.#get(name) ?? false
    if (typeof value !== 'boolean') this.refuse(name, 'must be true or false')
    return value === true
  }

  oneOf<const N extends string>(name: string, names: readonly N[], fallback: NoInfer<N>): N {
    const value = this.#get(name) ?? fallback
    if (names.includes(value as N)) return value as N
    this.refuse(name, `must be one of ${names.join(', ')}`)
    return fallback
  }

  refuse(name: string, why: string): void {
    this.#problems.push(`${this.#prefix}${name} ${why}.`)
  }

  /** @throws SettingsError */
  settle(): void {
    if (this.#problems.length > 0) throw new SettingsError(this.#problems)
  }

  /** Whether the setting is present but empty, which turns its default off. */
  isEmptied(name: string): boolean {
    return Object.hasOwn(this.#values, name) && this.#get(name) === undefined
  }

  /** Return the value; undefined also for `None`, which Salt's examples write for what is not set. */
  #get(name: string): unknown {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined
    return value === null || value === '' || value === 'None' ? undefined : value
  }
}

/** Return the result of `read`. Throws an error with a sentence for each problem. */
export function readSettings<T>(prefix: string, values: Values, read: (settings: Settings) => T): T {
  const settings = new Settings(prefix, values)
  const result = read(settings)
  settings.settle()
  return result
}

/** Return the problems of `work` as `check` of a backend reports them. */
export async function problemsOf(work: () => unknown): Promise<readonly string[]> {
  try {
    await work()
    return []
  } catch (error) {
    return error instanceof SettingsError ? error.problems : [(error as Error).message]
  }
}
