import type { Loader } from '../loader/index.ts'

/**
 * Functions that the minion process runs itself, without a job process: they must answer at once even when the host is busy,
 * and they need the list of jobs that only the minion process has.
 */
const CONTROL: ReadonlySet<string> = new Set([
  'test.ping',
  'saltutil.find_job',
  'saltutil.running',
  'saltutil.is_running',
  'saltutil.signal_job',
  'saltutil.term_job',
  'saltutil.kill_job',
  'saltutil.cancel_job',
  'saltutil.term_all_jobs',
  'saltutil.kill_all_jobs',
])

/** Control functions that no user's module overrides. User modules are loaded in job processes only. */
export class ControlFunctions {
  #names = CONTROL

  /** Find the control functions that are still the built-in ones. */
  async refresh(loader: Pick<Loader, 'isBuiltIn'>): Promise<void> {
    const found = await Promise.all(
      Array.from(CONTROL, async (name) => ((await loader.isBuiltIn(name)) ? [name] : [])),
    )
    this.#names = new Set(found.flat())
  }

  has(fun: string | readonly string[]): boolean {
    return typeof fun === 'string' && this.#names.has(fun)
  }
}
