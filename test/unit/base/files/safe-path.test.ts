import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safeName, safeParts, safePath } from '../../../../core/base/files/safe-path.ts'
import { SLOW } from '../../../harness/slow.ts'

test.each([
  ['a/b', 'a/b'],
  ['./a//b/', 'a/b'],
  ['...', '...'],
  ['a\\..\\b', 'a\\..\\b'],
  ['%2e%2e/x', '%2e%2e/x'],
  ['日本語/emoji😀', '日本語/emoji😀'],
])('%j is the path %j', (text, path) => {
  expect(safePath(text)).toBe(path)
})

test.each([
  '',
  '.',
  '/',
  '/etc/passwd',
  '..',
  '../x',
  'a/../b',
  'a/..',
  'x\0y',
  'a/\0',
  '\ud800',
  'n'.repeat(256),
  'a/'.repeat(2000),
  undefined,
  null,
  5,
  ['a'],
  {},
])('%j is no path', (text) => {
  expect(safePath(text)).toBeUndefined()
})

test('a safe name is one part, and safe parts are all safe names', () => {
  expect(safeName('a b')).toBe('a b')
  for (const name of ['a/b', '..', '.', '', '/']) expect(safeName(name)).toBeUndefined()
  expect(safeParts(['a', 'b'])).toBe('a/b')
  for (const parts of [[], ['a', ''], ['..', 'a'], ['a/b'], ['a', 5], 'ab', [['a']]])
    expect(safeParts(parts)).toBeUndefined()
})

test('a safe path never has a part that leads upwards, and stays the same when checked again', SLOW, () => {
  const part = fc.constantFrom('..', '.', '', 'a', '\0', '…', ' ', '\\', '..a', 'n'.repeat(300))
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string({ unit: 'binary' }))), (parts) => {
      const path = safePath(parts.join('/'))
      if (path === undefined) return
      expect(path.split('/').some((name) => ['..', '.', ''].includes(name))).toBe(false)
      expect(path).not.toContain('\0')
      expect(safePath(path)).toBe(path)
    }),
    { numRuns: 5000 },
  )
})
