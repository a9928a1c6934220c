import type { Loader } from '../loader/index.ts'

/**
 * Functions the minion answers itself, without a job process: they must answer at once even when the host is busy,
 * and they are about the jobs that the minion's own process knows (design decision 8).
 */
const CONTROL: ReadonlySet<string> = new Set([
  'test.ping',
  'saltutil.find_job',
  'saltutil.running',
  'saltutil.is_running',
  'saltutil.signal_job',
  'saltutil.term_job',
  'saltutil.kill_job',
  'saltutil.term_all_jobs',
  'saltutil.kill_all_jobs',
])

/** Those of them that no module of the user's, which loads in job processes only, has taken the place of. */
export class ControlFunctions {
  #names = CONTROL

  /** Look which of them are built-in ones. */
  async look(loader: Pick<Loader, 'isBuiltIn'>): Promise<void> {
    const found = await Promise.all(
      Array.from(CONTROL, async (name) => ((await loader.isBuiltIn(name)) ? [name] : [])),
    )
    this.#names = new Set(found.flat())
  }

  has(fun: string | readonly string[]): boolean {
    return typeof fun === 'string' && this.#names.has(fun)
  }
}
