import { Script } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { pythonSearch } from '../../../core/dialect/python-search.ts'
import { SLOW } from '../../harness/slow.ts'

test('a pattern is searched anywhere, or at the beginning', () => {
  expect(pythonSearch('b').found('ab')).toBe(true)
  expect(pythonSearch('b').begins('ab')).toBe(false)
  expect(pythonSearch('^b', 'm').found('a\nb')).toBe(true)
})

test('a replacement uses groups by number and name, and escapes', () => {
  const search = pythonSearch('(?P<k>\\w)=(\\d)')
  expect(search.replace('a=1 b=2', '\\g<2>\\n\\g<k>\\0')).toEqual({ text: '1\na\0 2\nb\0', replaced: 2 })
  expect(search.replace('a=1 b=2', '\\1', { count: 1 })).toEqual({ text: 'a b=2', replaced: 1 })
  expect(search.replace('a=1', '\\1', { literal: true }).text).toBe('\\1')
})

test('groups and escapes that do not exist are refused', () => {
  expect(() => pythonSearch('a').replace('a', '\\1')).toThrow('invalid group reference 1')
  expect(() => pythonSearch('a').replace('a', '\\q')).toThrow('bad escape \\q')
})

test(
  'only patterns that may take long have a deadline, because it costs more than most searches',
  SLOW,
  () => {
    const run = vi.spyOn(Script.prototype, 'runInContext')
    expect(pythonSearch('.*\\.bak$').begins('a.bak')).toBe(true)
    expect(pythonSearch('b').found('a'.repeat(100_000))).toBe(false)
    expect(run).not.toHaveBeenCalled()
    expect(pythonSearch('(a+)+b').found('ab')).toBe(true)
    expect(pythonSearch('.*.*.*b').found('a'.repeat(200))).toBe(false)
    expect(run).toHaveBeenCalledTimes(2)
    run.mockRestore()
  },
)

test('a comment or a set with complements hides no repetition of overlapping choices', () => {
  const text = `${'a'.repeat(40)}!`
  const run = vi.spyOn(Script.prototype, 'runInContext').mockImplementation(() => undefined)
  pythonSearch('(a|a)(?#c)*b').found(text)
  expect(run).toHaveBeenCalledTimes(1)
  run.mockRestore()
  expect(pythonSearch('[\\W\\D]*x').found(text)).toBe(false)
  expect(pythonSearch('[\\S\\D]*!').begins(text)).toBe(true)
})
