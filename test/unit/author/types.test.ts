import path from 'node:path'
import { expect, test } from 'vitest'
import { typeCheck } from '../../harness/type-check.ts'

test('tsc accepts and refuses exactly the lines that the file of types says', async () => {
  expect(await typeCheck(path.resolve(import.meta.dirname, '../../types'))).toBe('')
})
