import type { Filter } from '../environment.ts'
import { bind } from '../values/arguments.ts'

/** Make a filter that takes no arguments. */
export const plainFilter =
  (run: (value: unknown) => unknown): Filter =>
  (value, given) => {
    bind({}, given)
    return run(value)
  }
