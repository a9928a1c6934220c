import { describe, expect, test } from 'vitest'
import { createMatcher } from '../../core/targets/index.ts'
import { allMatchers } from '../harness/matchers.ts'
import { vectors } from '../harness/vectors.ts'

const golden = vectors('matchers')

describe('minion-side matchers agree with the golden data', async () => {
  const matchers = await allMatchers()
  const matcher = createMatcher({ matchers: (type) => matchers.get(type), nodegroups: golden.nodegroups })
  for (const { type, expr, options, matched } of golden.rows) {
    test(`${type} ${JSON.stringify(expr)} ${JSON.stringify(options)}`, () => {
      const chosen = Object.entries(golden.minions).filter(([id, facts]) =>
        matcher.match({ tgt: expr, tgt_type: type, ...options }, { id, ...(facts as object) }),
      )
      expect(chosen.map(([id]) => id)).toEqual(matched)
    })
  }
})
