import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseInput, yamlify } from '../../../core/loader/calls/words.ts'
import { fromNotation } from '../../harness/notation.ts'
import { render } from '../../harness/outputters.ts'
import { SLOW } from '../../harness/slow.ts'

const recorded = <Row>(name: string): Row[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/recorded/${name}.json`, import.meta.url), 'utf8'))

interface Shown {
  readonly value: unknown
  readonly texts: [outputter: string, options: object, text: string][]
}

describe('outputters give the text of Python Salt', () => {
  const rows = recorded<Shown>('outputters')
  const names = new Set(rows.flatMap(({ texts }) => texts.map(([name]) => name)))
  test.each([...names])('%s', SLOW, async (name) => {
    for (const { value, texts } of rows) {
      for (const [outputter, options, text] of texts) {
        if (outputter !== name) continue
        const shown = JSON.stringify({ value, options })
        expect(await render(name, fromNotation(value), options), shown).toBe(text)
      }
    }
  })
})

test('words become the values and arguments of Python Salt', SLOW, () => {
  for (const [word, value, args] of recorded<[string, unknown, unknown[]?]>('words')) {
    expect(entriesOf(yamlify(word)), word).toEqual(entriesOf(fromNotation(value)))
    expect(entriesOf(parseInput([word])), word).toEqual(entriesOf(fromNotation(args ?? [value])))
  }
})

/** Whether a map is a plain object or a `Map` makes no difference here; its order does. */
function entriesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(entriesOf)
  if (value instanceof Map) return { entries: [...value].map((entry) => entry.map(entriesOf)) }
  const isPlain = typeof value === 'object' && value !== null && value.constructor === Object
  return isPlain ? { entries: Object.entries(value).map((entry) => entry.map(entriesOf)) } : value
}
