import path from 'node:path'
import { expect, test } from 'vitest'
import { SLOW } from '../../harness/slow.ts'
import { typeCheck } from '../../harness/type-check.ts'

test('tsc accepts and refuses exactly the lines that the file of types says', SLOW, async () => {
  expect(await typeCheck(path.resolve(import.meta.dirname, '../../types'))).toBe('')
})
