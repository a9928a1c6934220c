import { expect, test } from 'vitest'
import * as log from '../../../modules/logmod.ts'
import { call, fakeContext } from './context.ts'

test.each([
  [log.debug, 'debug'],
  [log.info, 'info'],
  [log.warning, 'warn'],
  [log.error, 'error'],
  [log.critical, 'error'],
  [log.exception, 'error'],
])('a message goes into the log at its level (%#)', async (fn, level) => {
  const context = fakeContext()
  expect(await call(fn, { message: 'text' }, context)).toBe(true)
  expect(context.lines).toEqual([{ level, message: 'text' }])
})
