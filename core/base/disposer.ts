type Close = () => unknown

/**
 * A stack of resources to close, the last one opened first. If one fails to close, the others are still closed: `close`
 * rejects afterwards, with the only error or an AggregateError. A resource added after `close` is closed at once.
 *
 * @example
 * const disposer = new Disposer()
 * const server = disposer.own(await open())
 * disposer.defer(() => clearInterval(timer))
 * await disposer.close()
 */
export class Disposer {
  readonly #stack: Close[] = []
  #closing: Promise<void> | undefined

  /** Register a function for `close` to call. */
  defer(close: Close): void {
    this.#stack.push(close)
    if (this.#closing) this.#closing = this.#closing.finally(() => this.#unwind())
  }

  /** Register a resource for `close`, and return it. */
  own<T extends { close(): unknown }>(resource: T): T {
    this.defer(() => resource.close())
    return resource
  }

  /** Close everything. Later calls return the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#unwind()
    return this.#closing
  }

  async #unwind(): Promise<void> {
    const errors: unknown[] = []
    for (let close = this.#stack.pop(); close; close = this.#stack.pop()) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} resources failed to close`)
  }
}
