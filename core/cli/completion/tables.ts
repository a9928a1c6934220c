import type { Program } from '../program.ts'
import { type Flag, type FlagFacts, flagsOf } from '../typed-options.ts'

/** The options of each program by its name. */
export type Tables = Readonly<Record<string, readonly Flag[]>>

/** What completing has to know of the programs, as plain JSON, so that it need not load them. */
export const completionTables = (programs: readonly Program[]): Tables =>
  Object.fromEntries(programs.map((program) => [program.id, flagsOf(program).map(plain)]))

function plain([name, facts]: Flag): Flag {
  const { type, char, aliases, description, options, multiple } = facts
  const given = { type, char, aliases, description, options, multiple }
  return [
    name,
    Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as unknown as FlagFacts,
  ]
}
