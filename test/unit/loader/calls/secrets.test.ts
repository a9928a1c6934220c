import { describe, expect, test } from 'vitest'
import { type Params, p } from '../../../../core/author/index.ts'
import { maskArguments } from '../../../../core/loader/calls/secrets.ts'

const masked = (params: Params, ...arg: unknown[]) => maskArguments({ fun: 'm.f', arg }, async () => params)
const MASK = '**********'
const word = p.secret(p.string())

describe('secret values are masked', () => {
  test('by place and by name', async () => {
    const params = { who: p.string(), word }
    expect(await masked(params, 'ada', 'x')).toEqual(['ada', MASK])
    expect(await masked(params, 'ada', 'word=x')).toEqual(['ada', `word=${MASK}`])
    expect(await masked(params, { __kwarg__: true, who: 'ada', word: 'x' })).toEqual([
      { __kwarg__: true, who: 'ada', word: MASK },
    ])
  })
  test('among all that follow, and among all other names', async () => {
    const params = { who: p.string(), words: p.rest(word), others: p.keywords(word) }
    expect(await masked(params, 'ada', 'x', 'y', { __kwarg__: true, z: 1, who: 'eve' })).toEqual([
      'ada',
      MASK,
      MASK,
      { __kwarg__: true, z: MASK, who: 'eve' },
    ])
  })
  test('if a name, which may be misspelt, or a position is unknown to the function', async () => {
    const params = { who: p.string(), word }
    expect(await masked(params, 'ada', 'x', 'y', 'wrod=z')).toEqual(['ada', MASK, MASK, `wrod=${MASK}`])
  })
  test.each([
    ['a list', p.array(word)],
    ['a map', p.record(word)],
    ['a form', p.object({ name: p.string(), word })],
    ['a choice', p.union(p.integer(), word)],
    ['a list of forms', p.array(p.object({ word }))],
    ['what may be left out', p.optional(p.array(word))],
  ])('as a whole where they are inside %s', async (_, param) => {
    expect(await masked({ who: p.string(), param }, 'ada', ['x'])).toEqual(['ada', MASK])
  })
})

test('a call without secrets is not changed', async () => {
  expect(await masked({ who: p.string(), others: p.keywords(p.any()) }, 'ada', 'x=1')).toEqual(['ada', 'x=1'])
})
