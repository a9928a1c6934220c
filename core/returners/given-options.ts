import { fnmatch } from '../base/fnmatch.ts'
import { targetFrom } from '../jobs/outbox-target.ts'

/**
 * Why options that a job gives to its returners (`--return_kwargs`) are not taken, as a sentence; undefined if all are. A
 * job says which returner writes; where it writes is for the minion to say. `allowed` (`returner_kwargs_allowed`): shell
 * patterns for returners, `postgres`, and for one option of one, `postgres.table`.
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
  return `The job was not run: its --return_kwargs set ${options}, which this minion takes from its own configuration. Leave them out, or allow them with returner_kwargs_allowed: [${options}] in the configuration of the minion.`
}
