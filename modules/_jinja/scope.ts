/** Names and their values, inside those of the place around. */
export class Scope {
  readonly own = new Map<string, unknown>()
  readonly #around: Scope | undefined
  readonly #globals: ReadonlyMap<string, unknown>

  constructor(globals: ReadonlyMap<string, unknown>, around?: Scope) {
    this.#globals = globals
    this.#around = around
  }

  /** Return the value of a name; undefined if it has none. */
  get(name: string): unknown {
    for (let scope: Scope | undefined = this; scope; scope = scope.#around)
      if (scope.own.has(name)) return scope.own.get(name)
    return this.#globals.get(name)
  }

  set(name: string, value: unknown): void {
    this.own.set(name, value)
  }

  inner(): Scope {
    return new Scope(this.#globals, this)
  }

  /** All names and values that are visible here. */
  all(): Map<string, unknown> {
    return new Map([...(this.#around?.all() ?? this.#globals), ...this.own])
  }
}
