import type { FunctionRun, StartedRun } from '../../runs/background.ts'
import type { WorkerContext } from './context.ts'

/** Limits the runners and wheel functions that run at once. Each counts until its process has ended. */
export class RunSlots {
  readonly #most: number
  readonly #startRun: WorkerContext['startRun']
  #taken = 0

  constructor(most: number, { startRun }: Pick<WorkerContext, 'startRun'>) {
    this.#most = most
    this.#startRun = startRun
  }

  get isFull(): boolean {
    return this.#taken >= this.#most
  }

  start(run: FunctionRun): Promise<StartedRun> {
    this.#taken++
    const over = () => void this.#taken--
    const started = this.#startRun(run)
    started.then(({ gone }) => gone.then(over), over)
    return started
  }
}
