import { expect, test } from 'vitest'
import { messageOf, traceOf } from '../../../core/base/errors.ts'

test('a map that was thrown is shown as JSON, and not more of it than a reader needs', () => {
  expect(messageOf({ code: 3, msg: 'x' })).toBe('{"code":3,"msg":"x"}')
  expect(traceOf({ code: 3, msg: 'x' })).toBe('{"code":3,"msg":"x"}')
  const long = messageOf({ text: 'x'.repeat(5000) })
  expect(long).toHaveLength(1001)
  expect(long).toMatch(/x…$/)
})

test('what was thrown and is no map, or no JSON, is shown as its text', () => {
  expect(messageOf('x')).toBe('x')
  expect(messageOf(undefined)).toBe('undefined')
  const circle: Record<string, unknown> = { code: 3 }
  circle.own = circle
  expect(messageOf(circle)).toContain('code: 3')
  expect(messageOf(Object.assign(Object.create(null), { code: 3 }))).toBe('{"code":3}')
})
