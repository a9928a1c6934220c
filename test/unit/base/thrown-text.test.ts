import { expect, test } from 'vitest'
import { messageOf, messageWithCauses, SaltError, traceOf } from '../../../core/base/errors.ts'

test('a thrown map is shown as JSON, truncated', () => {
  expect(messageOf({ code: 3, msg: 'x' })).toBe('{"code":3,"msg":"x"}')
  expect(traceOf({ code: 3, msg: 'x' })).toBe('{"code":3,"msg":"x"}')
  const long = messageOf({ text: 'x'.repeat(5000) })
  expect(long).toHaveLength(1001)
  expect(long).toMatch(/x…$/)
})

test('a thrown value that is no map, or not JSON, is shown as its text', () => {
  expect(messageOf('x')).toBe('x')
  expect(messageOf(undefined)).toBe('undefined')
  const circle: Record<string, unknown> = { code: 3 }
  circle.own = circle
  expect(messageOf(circle)).toContain('code: 3')
  expect(messageOf(Object.assign(Object.create(null), { code: 3 }))).toBe('{"code":3}')
})

const refuse = (): never => {
  throw new Error('not to be looked at')
}
const traps: ProxyHandler<object> = { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse }
const withGetter = (name: string, value = new Error('x')) =>
  Object.defineProperty(value, name, { get: refuse })
const UNSHOWABLE = 'a value that cannot be shown was thrown'

test.for([
  ['a proxy of which everything throws', new Proxy({}, traps)],
  ['a proxy of an error', new Proxy(new SaltError('INVOCATION', 'x'), traps)],
  ['a function that is a proxy', new Proxy(() => 1, traps)],
  ['an error whose message throws', withGetter('message', withGetter('stack'))],
  ['what has a toString that throws', { toString: refuse }],
  ['what has a toString that gives none', { toString: () => ({}) }],
  ['what cannot be inspected', { toJSON: refuse, [Symbol.for('nodejs.util.inspect.custom')]: refuse }],
] as const)('%s is described in a sentence', ([, thrown]) => {
  expect([messageOf(thrown), messageWithCauses(thrown), traceOf(thrown)]).toEqual([
    UNSHOWABLE,
    UNSHOWABLE,
    UNSHOWABLE,
  ])
  expect(SaltError.is(thrown)).toBe(false)
})

test('as much of an error is shown as possible', () => {
  expect(traceOf(withGetter('stack', new Error('no stack')))).toBe('no stack')
  expect(traceOf(Object.assign(new Error('x'), { stack: 7 }))).toBe('x')
  expect(messageWithCauses(withGetter('cause', new Error('own')))).toBe('own')
  expect(messageOf(Object.assign(new Error('x'), { message: { code: 3 } }))).toBe('{"code":3}')
  expect(messageOf(Object.assign(new Error('x'), { message: undefined }))).toBe('undefined')
  expect(messageWithCauses(new Error('own', { cause: new Proxy({}, traps) }))).toBe(
    `own\nCaused by: ${UNSHOWABLE}`,
  )
})
