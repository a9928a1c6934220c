import { SaltInvocationError } from 'salt-ts'
import { packageNames } from './targets.ts'

/** What became of one package that should be held, or not any more. `result` is null in test mode. */
export interface HoldResult {
  readonly name: string
  readonly changes: object
  readonly result: boolean | null
  readonly comment: string
}

export const report = (
  name: string,
  result: boolean | null,
  comment: string,
  changes: object = {},
): HoldResult => ({ name, changes, result, comment })

/** List the packages to hold: those of `pkgs`, `sources` or `name`. */
export function heldNames(name: string | undefined, pkgs: unknown, sources: unknown): string[] {
  if (!name && !pkgs && !sources) {
    throw new SaltInvocationError('One of name, pkgs, or sources must be specified.')
  }
  if (pkgs && sources) throw new SaltInvocationError('Only one of pkgs or sources can be specified.')
  return pkgs || sources ? packageNames(pkgs || sources) : [name!]
}
