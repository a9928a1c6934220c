type Close = () => unknown

/**
 * A stack of things to close, last opened first closed. A failing one does not keep the others open: `close`
 * closes all, then rejects with the only error or an AggregateError. What is added after the end is closed at once.
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

  /** Remember what to do at the end. */
  defer(close: Close): void {
    this.#stack.push(close)
    if (this.#closing) this.#closing = this.#closing.finally(() => this.#unwind())
  }

  /** Remember to close a resource; gives it back. */
  own<T extends { close(): unknown }>(resource: T): T {
    this.defer(() => resource.close())
    return resource
  }

  /** Close everything. Later calls wait for the same end. */
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
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} things failed to close`)
  }
}
