import { expect, test } from 'vitest'
import { publishReplies } from '../../../core/wire/publish-request.ts'

test.each([
  ['web*', 'web*'],
  [9007199254740993n, '9007199254740993'],
  [['a', 2n ** 60n], '["a", 1152921504606846976]'],
])('a target that selects no minion is named: %s', (tgt, shown) => {
  expect(publishReplies.noMatch(tgt).load.error).toBe(`Master could not resolve minions for target ${shown}`)
})
