import { expect, test } from 'vitest'
import { fileProblem } from '../../../../core/base/files/file-problem.ts'

test.each([
  [{ code: 'ENOSPC' }, 'the disk is full'],
  [{ code: 'ENOSPC', path: '/tmp/a' }, 'the disk is full (/tmp/a)'],
  [{ code: 'EROFS', path: '/tmp/a' }, 'the file system is read-only (/tmp/a)'],
  [{ code: 'constructor' }, 'strange'],
  [{}, 'strange'],
])('a system error about a file is described in words: %j', (facts, told) => {
  expect(fileProblem(Object.assign(new Error('strange'), facts))).toBe(told)
})
