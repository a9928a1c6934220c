import { describe, expect, test } from 'vitest'
import { matcher } from '../../../core/author/index.ts'
import { compoundLetters } from '../../../core/targets/compound-letters.ts'
import { createMatcher, expectedMinions, type Target } from '../../../core/targets/index.ts'
import { allMatchers } from '../../harness/matchers.ts'

const plugins = await allMatchers()
const reasons: string[] = []
const targets = createMatcher({
  matchers: (type) => plugins.get(type),
  nodegroups: {
    web: 'web*',
    prod: 'G@env:prod',
    both: ['N@web', 'and', 'N@prod'],
    loop: 'N@pool',
    pool: 'N@loop',
  },
  onInvalid: (reason) => reasons.push(reason),
})
const web = { id: 'web01', grains: { env: 'prod', ipv4: ['10.0.0.1'], 'a b': 1 }, pillar: { role: 'front' } }
const bare = { id: 'web02' }
const compound = (tgt: unknown): Target => ({ tgt, tgt_type: 'compound' })

describe('matching', () => {
  test('a nodegroup may be made of nodegroups', () => {
    expect(targets.match({ tgt: 'both', tgt_type: 'nodegroup' }, web)).toBe(true)
  })

  test.each([
    [{ tgt: 'loop', tgt_type: 'nodegroup' }, "'loop' contains itself (loop → pool → loop)"],
    [{ tgt: 'x', tgt_type: 'range' }, 'A minion cannot evaluate a range target'],
    [{ tgt: '10.0.0.300', tgt_type: 'ipcidr' }, 'neither an IP address nor a network'],
    [compound('web* or S@10.0.0.1/24'), 'an address inside a network'],
    [compound('db* and E@('), 'is not valid'],
    [compound('db* and P@os:('), 'is not valid'],
    [{ tgt: '(', tgt_type: 'pcre' }, 'is not valid'],
    [compound('web* or N@nosuch'), "no nodegroup 'nosuch'"],
    [compound('not N@nosuch'), "no nodegroup 'nosuch'"],
    [compound('web* and'), "missing after 'and'"],
    [compound('web* db*'), "missing before 'db*'"],
    [compound('( '.repeat(50_000)), 'parentheses'],
    [compound(['web*', 7]), 'list of words'],
    [{ tgt: 'toString', tgt_type: 'constructor' }, 'no target type'],
  ])('a malformed target matches no minion: %j', (target, reason) => {
    reasons.length = 0
    expect(targets.match(target, web)).toBe(false)
    expect(reasons[0]).toContain(reason)
  })

  test.each([
    ['G@env:prod', 'unknown'],
    ['not G@env:prod', 'unknown'],
    ['web* and G@env:prod', 'unknown'],
    ['web* or G@env:prod', true],
    ['db* and G@env:prod', false],
    ['db* or I@role:front', 'unknown'],
    ['S@10.0.0.0/8', 'unknown'],
  ])('a target that depends on unknown data is unknown: %s', (expression, verdict) => {
    expect(targets.match(compound(expression), bare)).toBe(verdict)
  })

  test.each([
    ['S@10.0.0.0/255.255.255.0', true],
    ['S@10.0.0.1/32', true],
    ['S@10.0.0.0/0.0.0.255', true],
    ['P@env:(?:prod|stage)', true],
    ['P@env:(?:prod', false],
    ['S@::/0', false],
    ['G@constructor:*', false],
    ['G@__proto__:*', false],
    ['G@*:prod', true],
    ['G@*:stage', false],
  ])('%s', (expression, verdict) => {
    expect(targets.match(compound(expression), web)).toBe(verdict)
  })

  test('a plugin can have a letter of its own in compound targets, but none of Salt', () => {
    const complaints: string[] = []
    const rack = (letter: string) =>
      matcher({ letter, delimited: true, match: (rack, { grains }) => grains?.rack === rack })
    const own = new Map([...plugins, ['rack', rack('Z')], ['greedy', rack('G')], ['long', rack('ZZ')]])
    const letters = compoundLetters(own, (sentence) => complaints.push(sentence))
    const matching = createMatcher({ matchers: (type) => own.get(type), letters })
    const subject = { id: 'web01', grains: { rack: '7' } }
    expect(matching.match(compound('web* and Z@7'), subject)).toBe(true)
    expect(matching.match(compound('web* and not Z|@7'), subject)).toBe(false)
    expect(complaints).toEqual([
      "The matcher 'greedy' cannot have the letter G: it belongs to 'grain'.",
      "The matcher 'long' cannot have 'ZZ' as its letter: it must be a single letter from A to Z.",
    ])
  })

  test.each([
    ['role:web*', true],
    ['ROLE:web', false],
    ['role', false],
    ['list:B', true],
    ['map:a', true],
    ['map:b', false],
    ['none:*', false],
  ])('data that a minion stores can be targeted: %s', (tgt, verdict) => {
    const data = { role: 'web1', list: ['a', 'b'], map: { a: 1 } }
    expect(targets.match({ tgt, tgt_type: 'data' }, { id: 'm', data })).toBe(verdict)
    if (tgt.includes(':')) expect(targets.match({ tgt, tgt_type: 'data' }, { id: 'm' })).toBe('unknown')
  })

  test('a target is parsed once, for however many minions', () => {
    let read = 0
    const counting = matcher({
      prepare: () => {
        read++
        return () => true
      },
    })
    const own = createMatcher({ matchers: () => counting })
    for (let n = 0; n < 10; n++) own.match({ tgt: 'x', tgt_type: 'own' }, { id: `m${n}` })
    expect(read).toBe(1)
  })

  test.each([`${'a:'.repeat(3000)}x`, `${'*:'.repeat(60)}x`])('no expression blocks the master', (tgt) => {
    let deep: Record<string, unknown> = {}
    for (let n = 0; n < 60; n++) deep = { a: deep, b: deep }
    expect(targets.match({ tgt, tgt_type: 'grain' }, { id: 'm', grains: deep })).toBe(false)
  })

  test('a plugin for a new type needs no other change', () => {
    const shout = matcher({ match: (expression, { id }) => id.toUpperCase() === expression })
    const own = createMatcher({ matchers: (type) => (type === 'shout' ? shout : undefined) })
    expect(own.match({ tgt: 'WEB01', tgt_type: 'shout' }, web)).toBe(true)
  })
})

describe('a matcher that returns no verdict', () => {
  test.each([
    [undefined, 'undefined'],
    ['yes', 'text'],
    [1, 'a number'],
    [Promise.resolve(true), 'a promise'],
  ])('is named, whether it is used alone or in a compound target: %s', (verdict, kind) => {
    const wrong = `The matcher 'odd' returned ${kind} instead of true, false or 'unknown'.`
    const match = () => verdict as never
    for (const odd of [matcher({ match }), matcher({ prepare: () => match })]) {
      const told: string[] = []
      const own = createMatcher({
        matchers: (type) => (type === 'odd' ? odd : plugins.get(type)),
        letters: compoundLetters(new Map([...plugins, ['odd', { ...odd, letter: 'Z' }]]), () => {}),
        onInvalid: (reason) => told.push(reason),
      })
      for (const target of [{ tgt: 'x', tgt_type: 'odd' }, compound('web* and not Z@x')]) {
        expect(own.match(target, web)).toBe(false)
        expect(() => expectedMinions(target, [web], own)).toThrow(wrong)
      }
      expect(told).toEqual([wrong, wrong])
    }
  })
})

describe('expected minions', () => {
  test('listed ids without a key are missing, all others are expected once', () => {
    const list = { tgt: ['web02', 'ghost', 'web01', 'web01'], tgt_type: 'list' }
    expect(expectedMinions(list, [web, bare], targets)).toEqual({
      minions: ['web01', 'web02'],
      missing: ['ghost'],
      unknown: [],
    })
    expect(expectedMinions({ tgt: 'web01,ghost', tgt_type: 'list' }, [web, bare], targets)).toEqual({
      minions: ['web01'],
      missing: ['ghost'],
      unknown: [],
    })
  })

  test('minions without the needed data are expected, and listed as unknown', () => {
    const target = { tgt: 'env:stage', tgt_type: 'grain' }
    expect(expectedMinions(target, [web, bare], targets)).toEqual({
      minions: ['web02'],
      missing: [],
      unknown: ['web02'],
    })
  })

  test('a list of ten thousand ids is not parsed again for each minion', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `m${n}`)
    let reads = 0
    const tgt = new Proxy(ids, {
      get(list, key) {
        reads++
        return Reflect.get(list, key)
      },
    })
    const { minions } = expectedMinions(
      { tgt, tgt_type: 'list' },
      ids.map((id) => ({ id })),
      targets,
    )
    expect(minions).toHaveLength(10_000)
    expect(reads).toBeLessThan(10 * ids.length)
  })
})
