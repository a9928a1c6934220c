import { expect, test } from 'vitest'
import { narrowTarget } from '../../../../core/master/preflight/narrow-target.ts'
import { createMatcher, type Target } from '../../../../core/targets/index.ts'
import { allMatchers } from '../../../harness/matchers.ts'

const matchers = await allMatchers()
const matcher = createMatcher({ matchers: (type) => matchers.get(type) })
const subjects = ['web1', 'web2', 'db 1'].map((id) => ({ id, grains: { os: 'Debian GNU', a: { b: 'c' } } }))

test.each<[Target, readonly string[]]>([
  [{ tgt: 'os:Debian GNU', tgt_type: 'grain' }, ['web1']],
  [{ tgt: 'a|b|c', tgt_type: 'grain', delimiter: '|' }, ['web1']],
  [{ tgt: 'os:Deb.*', tgt_type: 'grain_pcre' }, ['web1', 'db 1']],
  [{ tgt: 'web1 or G@os:*', tgt_type: 'compound' }, ['db 1']],
  [{ tgt: ['web1', 'or', 'web2'], tgt_type: 'compound' }, ['web2']],
  [{ tgt: 'os:x', tgt_type: 'grain' }, []],
  [{ tgt: 'x', tgt_type: 'of a plugin' }, ['web1']],
  [{ tgt: 'os:Debian GNU', tgt_type: 'grain' }, ['we,b1']],
])('%j is narrowed to minions of %j', (target, allowed) => {
  const narrow = narrowTarget(target, allowed)
  const meant = subjects.filter((subject) => matcher.match(narrow, subject) === true).map(({ id }) => id)
  expect(meant).toEqual(allowed.filter((id) => subjects.some((subject) => subject.id === id)))
})
