import { describe, expect, test } from 'vitest'
import { p } from '../../../core/author/index.ts'
import { engineOptions, enginesIn } from '../../../core/engines/engine-options.ts'

describe('the option engines', () => {
  function read(engines: unknown) {
    const problems: string[] = []
    return { engines: enginesIn(engines, (sentence) => problems.push(sentence)), problems }
  }
  const relay = { name: 'relay', plugin: 'relay', options: { from: 'x' } }
  const plain = { name: 'test', plugin: 'test', options: {} }

  test.each([
    [[], []],
    [
      ['test', { relay: { from: 'x' } }],
      [plain, relay],
    ],
    [{ test: null, relay: { from: 'x' } }, [plain, relay]],
    [[{ test: {} }], [plain]],
    [[{ other: { engine_module: 'relay', from: 'x' } }], [{ ...relay, name: 'other' }]],
  ])('may be %j', (engines, found) => {
    expect(read(engines)).toEqual({ engines: found, problems: [] })
  })

  test('refuses invalid and repeated entries, and keeps the others', () => {
    expect(read(['test', 3, { relay: 'x' }, 'test'])).toEqual({
      engines: [plain],
      problems: [
        "An entry of 'engines' is neither a name nor a name with a map of options: 3.",
        `An entry of 'engines' is neither a name nor a name with a map of options: "x".`,
        'There are several engines called test: give each a different name, and engine_module: test.',
      ],
    })
  })
})

describe('the options of an engine', () => {
  const options = { from: p.string(), times: p.default(p.integer({ minimum: 1 }), 1) }
  const read = (given: Record<string, unknown>) =>
    engineOptions({ options, start: async () => {} }, { name: 'relay', plugin: 'relay', options: given })

  test('are those it declares, with defaults', async () => {
    expect(await read({ from: 'x' })).toEqual({ from: 'x', times: 1 })
    expect(await read({ from: 'x', times: '3' })).toEqual({ from: 'x', times: 3 })
  })

  test.each([
    [{ from: 'x', form: 1 }, "it has no option 'form'. Known options: from, times."],
    [{}, "it needs the option 'from' below relay in 'engines'."],
    [{ from: 'x', times: 0 }, "its option times is wrong: 'times' must be at least 1, not 0."],
  ])('that are wrong are refused: %j', async (given, sentence) => {
    await expect(read(given)).rejects.toThrow(sentence)
  })

  test('are empty if it declares none', async () => {
    const bare = { start: async () => {} } as unknown as Parameters<typeof engineOptions>[0]
    expect(await engineOptions(bare, { name: 'bare', plugin: 'bare', options: {} })).toEqual({})
  })
})
