import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MatchSubject } from '../../../core/author/kinds.ts'
import { cachedMinions } from '../../../core/cache/cached-minions.ts'
import { MinionData } from '../../../core/cache/minion-data.ts'
import { createMatcher, expectedMinions, explainNoMatch } from '../../../core/targets/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { allMatchers } from '../../harness/matchers.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'

const plugins = await allMatchers()
const matcher = createMatcher({ matchers: (type) => plugins.get(type) })
let directory: string
let data: MinionData

beforeEach(async () => {
  directory = await temporaryFolder('salt-cached-minions-')
  data = MinionData.open(directory)
})
afterEach(async () => {
  await data.close()
  await removeFolder(directory)
})

/** Few words, so that what is asked for is often there. */
const words = fc.constantFrom(
  'os',
  'Debian',
  'web',
  'a',
  'b',
  'a:b',
  '5',
  '-1',
  'True',
  'ipv4',
  '10.0.0.1',
  'é',
)
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(words, fc.integer({ min: -3, max: 9 }), fc.boolean(), fc.constant(null), fc.constant(1.5)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(words, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc
      .array(fc.tuple(fc.oneof(words, fc.integer({ min: 0, max: 9 })), tie('value')), { maxLength: 4 })
      .map((entries) => new Map(entries)),
  ),
})).value
const facts = fc.dictionary(words, values, { maxKeys: 8, noNullPrototype: true })
const minions = fc.array(
  fc.record({ grains: facts, pillar: facts }, { requiredKeys: [], noNullPrototype: true }),
  { minLength: 1, maxLength: 12 },
)

const paths = fc
  .tuple(
    fc.array(fc.oneof(words, fc.constantFrom('*', 'D*', '?')), { minLength: 1, maxLength: 4 }),
    fc.constantFrom(':', '|'),
  )
  .map(([parts, delimiter]) => ({ tgt: parts.join(delimiter), delimiter }))
const ofPaths = fc
  .tuple(paths, fc.constantFrom('grain', 'grain_pcre', 'pillar', 'pillar_pcre', 'pillar_exact'))
  .map(([path, tgt_type]) => ({ ...path, tgt_type }))
const compounds = fc
  .array(
    fc.tuple(
      fc.constantFrom('G@', 'P@', 'I@', 'J@', 'not G@', 'not I@'),
      paths,
      fc.constantFrom('and', 'or'),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => ({
    tgt: parts.map(([letter, { tgt }, joint], n) => `${n ? `${joint} ` : ''}${letter}${tgt}`).join(' '),
    tgt_type: 'compound',
  }))
const targets = fc.oneof(
  ofPaths,
  compounds,
  fc.constantFrom('10.0.0.1', '10.0.0.0/8', '::/0').map((tgt) => ({ tgt, tgt_type: 'ipcidr' })),
)

test('a target matches the same minions as without the cache', SLOW, async () => {
  await fc.assert(
    fc.asyncProperty(minions, fc.array(targets, { minLength: 5, maxLength: 20 }), async (all, asked) => {
      const ids = all.map((_, n) => `web${n}`)
      await Promise.all(ids.map((id, n) => data.remove(id).then(() => data.save(id, all[n] ?? {}))))
      const whole = ids.map((id): MatchSubject => {
        const [grains, pillar] = [data.grains(id), data.pillar(id)]
        return { id, ...(grains && { grains }), ...(pillar && { pillar }) }
      })
      for (const target of asked) {
        const seen = (subjects: Iterable<MatchSubject>) =>
          outcome(() => [
            expectedMinions(target, subjects, matcher),
            explainNoMatch(target, { subjects: () => subjects, otherKeys: new Map(), matcher }),
          ])
        expect(seen(cachedMinions(ids, data))).toEqual(seen(whole))
      }
    }),
    { numRuns: 40 },
  )
})

test('minions without cached data are listed, without data', () => {
  const [only] = cachedMinions(['web1'], data)
  expect([only?.id, only?.grains, only?.pillar]).toEqual(['web1', undefined, undefined])
})

const osOf = (ids: readonly string[]) => Array.from(cachedMinions(ids, data), ({ grains }) => grains?.os)

test('data that another process has changed is seen by the next target, however much has changed', async () => {
  const ids = Array.from({ length: 300 }, (_, n) => `web${n}`)
  const other = MinionData.open(directory)
  const saveAll = (changed: readonly string[], os: string) =>
    Promise.all(changed.map((id) => other.save(id, { grains: { os } })))
  await saveAll(ids, 'Debian')
  expect(new Set(osOf(ids))).toEqual(new Set(['Debian']))
  await saveAll(['web7'], 'Arch')
  await other.remove('web8')
  expect(osOf(['web6', 'web7', 'web8'])).toEqual(['Debian', 'Arch', undefined])
  await saveAll(ids, 'Fedora')
  expect(new Set(osOf(ids))).toEqual(new Set(['Fedora']))
  await other.close()
})

test('data of a file that was replaced by another one is not kept', SLOW, async () => {
  await data.save('web1', { grains: { os: 'Debian' } })
  expect(osOf(['web1'])).toEqual(['Debian'])
  rmSync(MinionData.path(directory))
  const other = MinionData.open(directory)
  await other.save('web1', { grains: { os: 'Arch' } })
  await until('the facts of the new file', () => osOf(['web1'])[0] === 'Arch')
  await other.close()
})

function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return String(error)
  }
}
