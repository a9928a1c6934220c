import type { Random } from '../../harness/random.ts'
import type { Fleet, FleetOptions, Load } from '../fleet.ts'

/** Something that goes wrong while jobs are published, run and return. */
export interface Scenario {
  readonly name: string
  /** What goes wrong, as a sentence. */
  readonly says: string
  /** The rows of the table of failures in docs/reliability.md that it stands for. */
  readonly rows: readonly number[]
  readonly fleet?: FleetOptions
  run(fleet: Fleet, random: Random): Promise<unknown>
}

/** Let jobs run, do something when a random number of them has begun, and wait until all were accepted. */
export async function amid(
  fleet: Fleet,
  random: Random,
  act: () => unknown,
  load: Load & { readonly jobs: number } = { jobs: 12, longest: 1500 },
): Promise<void> {
  const before = fleet.begins()
  const loaded = fleet.load(load, random)
  loaded.catch(() => {}) // is told below, unless something else fails before
  await fleet.begun(before + random.between(1, load.jobs))
  await act()
  await loaded
}
