import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { MOUNTS, needs } from '../../harness/needs.ts'

const child = fileURLToPath(new URL('full-disk-child.ts', import.meta.url))

test(
  'on a full disk each change is refused in a sentence, LMDB is asked once, and there is no restart',
  needs(MOUNTS),
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'salt-ts-full-'))
    const { stdout, stderr } = await execa('node', [
      '--conditions',
      'source',
      '--import',
      'tsx',
      child,
      folder,
    ])
    const [first, ...others] = JSON.parse(stdout) as string[]
    const last = others.pop()
    expect([first, last]).toEqual(['stored', 'stored'])
    expect(new Set(others).size).toBe(1)
    expect(others[0]).toMatch(/^The disk is full: nothing was stored in .*Make room; no restart is needed\.$/)
    expect(stderr.split('Write error').length - 1).toBeLessThanOrEqual(1)
    await rm(folder, { recursive: true })
  },
)
