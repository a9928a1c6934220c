import { fnmatch } from '../dialect/fnmatch.ts'
import { targetFrom } from './outbox-target.ts'

/**
 * Return the reason why options that a job sets for its returners (`--return_kwargs`) are refused, as a sentence; undefined if
 * all are allowed. A job selects the returner, but the minion decides where it writes. `allowed` (`returner_kwargs_allowed`) has
 * shell patterns for returners (`postgres`) and for single options (`postgres.table`).
 */
export function givenOptionsRefusal(
  targets: readonly string[],
  allowed: readonly string[],
): string | undefined {
  const given = targets
    .map(targetFrom)
    .flatMap(({ name, kwargs = {} }) =>
      Object.keys(kwargs).map((key) => ({ name, option: `${name}.${key}` })),
    )
  const isAllowed = (text: string) => allowed.some((pattern) => fnmatch(text, pattern))
  const refused = given.filter(({ name, option }) => !isAllowed(name) && !isAllowed(option))
  if (refused.length === 0) return undefined
  const options = refused.map(({ option }) => option).join(', ')
  return `The job was not run: its --return_kwargs set ${options}, which this minion takes only from its own configuration. Leave them out, or allow them with returner_kwargs_allowed: [${options}] in the configuration of the minion.`
}
