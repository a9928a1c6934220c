/** Listens to all events of a master for the whole run. */
import type { EventBus } from '../../core/events/index.ts'

export class Listener {
  heard = 0
  #last = performance.now()

  constructor(bus: EventBus) {
    void this.#listen(bus)
  }

  get silentMs(): number {
    return performance.now() - this.#last
  }

  async #listen(bus: EventBus): Promise<void> {
    for await (const _ of bus.subscribe('')) {
      this.heard++
      this.#last = performance.now()
    }
  }
}
