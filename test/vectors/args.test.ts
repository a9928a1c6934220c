import { describe, expect, test } from 'vitest'
import { parseInput, parseWords, yamlify } from '../../core/loader/calls/words.ts'
import { fromNotation } from '../harness/notation.ts'
import { vectors } from '../harness/vectors.ts'

const golden = vectors('args')

describe('words become the values of the golden data', () => {
  for (const { input, input_json, result } of golden.yamlify) {
    const word = input === undefined ? input_json : input
    test(`yamlify ${JSON.stringify(word)}`, () => expect(yamlify(word)).toEqual(fromNotation(result)))
  }
  for (const row of golden.parse_input) {
    test(`parse_input ${JSON.stringify(row.args)}`, () => {
      expect(parseInput(row.args)).toEqual(fromNotation(row.parse_input))
      const [args, kwargs] = row.parse_input_no_condition
      expect(parseWords(row.args)).toEqual({ args: fromNotation(args), kwargs: fromNotation(kwargs) })
      const exempt = row.parse_input_no_parse_k
      if (exempt) expect(parseInput(row.args, ['k'])).toEqual(fromNotation(exempt))
    })
  }
})

test('integers of 20 digits, which could be job ids, stay text at a position', () => {
  const jid = '20261127120057031700'
  expect(parseInput([jid, `k=${jid}`])).toEqual([jid, { __kwarg__: true, k: BigInt(jid) }])
  expect(parseWords([jid, '2026112712005703170'])).toEqual({
    args: [jid, 2026112712005703170n],
    kwargs: {},
  })
})
