import { execa } from 'execa'
import { expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { MOUNTS, needs } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'

const child = await testProgram('full-disk-child.ts', import.meta.url)

test('on a full disk each change is refused with a sentence, LMDB is called once, and no restart is needed', {
  ...needs(MOUNTS),
  ...SLOW,
}, async () => {
  const folder = await temporaryFolder('salt-ts-full-')
  const { stdout, stderr } = await execa('node', [child, folder])
  const [first, ...others] = JSON.parse(stdout) as string[]
  const last = others.pop()
  expect([first, last]).toEqual(['stored', 'stored'])
  expect(new Set(others).size).toBe(1)
  expect(others[0]).toMatch(
    /^The disk is full: nothing was stored in .*Free some space; no restart is needed\.$/,
  )
  expect(stderr.split('Write error').length - 1).toBeLessThanOrEqual(1)
  await removeFolder(folder)
})
