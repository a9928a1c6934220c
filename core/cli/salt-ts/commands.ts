/** The commands of `salt-ts` by their names, in the order of its help; for oclif (`oclif` in package.json), too. */
import { Check } from './check.ts'
import { Completion } from './completion.ts'
import { Create } from './create.ts'
import { Dev } from './dev.ts'
import { Docs } from './docs.ts'
import { Pack } from './pack.ts'
import { Test } from './test.ts'
import { Types } from './types.ts'

export const commands = {
  create: Create,
  dev: Dev,
  test: Test,
  types: Types,
  check: Check,
  docs: Docs,
  pack: Pack,
  completion: Completion,
}
