import { expect, test } from 'vitest'
import { checkOpenFiles } from '../../../core/cli/enough-files.ts'

test.each([
  ['salt-master', 127, 128],
  ['salt-minion', 64, 128],
  ['salt', 32, 48],
])('%s with %i files says how many it needs', (program, allowed, least) => {
  expect(() => checkOpenFiles(program, allowed)).toThrow(
    `${program} may open ${allowed} files, and needs ${least} at least. Run "ulimit -n 1024" before it is started`,
  )
  expect(() => checkOpenFiles(program, least)).not.toThrow()
})

test('where the system does not tell, nothing is refused', () => {
  expect(() => checkOpenFiles('salt-master', undefined)).not.toThrow()
})
