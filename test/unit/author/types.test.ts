import path from 'node:path'
import { expect, test } from 'vitest'
import { SLOW_TEST } from '../../harness/slow.ts'
import { typeCheck } from '../../harness/type-check.ts'

test('tsc accepts and refuses exactly what the file of types says', SLOW_TEST, () => {
  expect(typeCheck(path.resolve(import.meta.dirname, '../../types'))).toBe('')
})
