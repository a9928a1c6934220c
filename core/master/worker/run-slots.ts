import type { FunctionRun, StartedRun } from '../../runs/background.ts'
import type { WorkerContext } from './context.ts'

/** Starts a run in the slot that was taken for it. To be called once. */
export type RunSlot = (run: FunctionRun) => Promise<StartedRun>

/** Limits the runners and wheel functions that run at once. Each counts from when its slot is taken until its process has ended. */
export class RunSlots {
  readonly #limit: number
  readonly #startRun: WorkerContext['startRun']
  #taken = 0

  constructor(limit: number, { startRun }: Pick<WorkerContext, 'startRun'>) {
    this.#limit = limit
    this.#startRun = startRun
  }

  /** Take a slot; undefined if none is free. */
  take(): RunSlot | undefined {
    if (this.#taken >= this.#limit) return undefined
    this.#taken++
    const free = () => void this.#taken--
    return (run) => {
      const started = this.#startRun(run)
      started.then(({ gone }) => gone.then(free), free)
      return started
    }
  }
}
