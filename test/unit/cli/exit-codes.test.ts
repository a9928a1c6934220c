import { expect, test } from 'vitest'
import { SaltError } from '../../../core/base/errors.ts'
import { exitCodeOf, exitCodeOfRetcode, exitTable, UsageError } from '../../../core/cli/exit-codes.ts'

test('every outcome has an exit code of its own', () => {
  const codes = Object.values(exitTable).map(({ code }) => code)
  expect(new Set(codes).size).toBe(codes.length)
})

test('errors have the exit code of their error code', () => {
  expect(exitCodeOf(new UsageError('x'))).toBe(64)
  expect(exitCodeOf(new SaltError('MASTER_UNREACHABLE', 'x'))).toBe(69)
  expect(exitCodeOf(new SaltError('AUTHORIZATION_FAILED', 'x'))).toBe(77)
  expect(exitCodeOf(new SaltError('CONFIG_INVALID', 'x'))).toBe(78)
  expect(exitCodeOf(new SaltError('NO_MINIONS_MATCHED', 'x'))).toBe(2)
  expect(exitCodeOf(new Error('x'))).toBe(1)
})

test('a code of a function becomes an exit code of one byte, and 0 only if it is 0', () => {
  expect([0, 3, 256, -1, 300].map(exitCodeOfRetcode)).toEqual([0, 3, 1, 255, 44])
})
