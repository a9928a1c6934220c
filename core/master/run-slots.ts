import type { FunctionRun, StartedRun } from '../jobs/background.ts'
import type { WorkerRoom } from './room.ts'

/** Functions of the master's host that run at once, each a process: one counts until its process is gone. */
export class RunSlots {
  readonly #most: number
  readonly #startRun: WorkerRoom['startRun']
  #taken = 0

  constructor(most: number, { startRun }: Pick<WorkerRoom, 'startRun'>) {
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
