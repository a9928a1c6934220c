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
