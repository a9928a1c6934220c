/** Grains that programs of the host give, collected by code from V8's cache, as in an installed package. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const saltCall = fileURLToPath(new URL('../../bin/salt-call', import.meta.url))

const lvm = `#!/bin/sh
case $1 in
  vgs) echo '  vg0' ;;
  lvs) echo '  vg0 root' ;;
esac
`
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-grains-')
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'lvm'), lvm)
  await chmod(join(folder, 'bin', 'lvm'), 0o755)
  await writeFile(join(folder, 'minion'), `root_dir: ${folder}/root\nid: m1\n`)
})
afterAll(() => removeFolder(folder))

test('a minion runs programs for its grains', async () => {
  const args = ['-c', folder, '--local', '--out', 'json', 'grains.get', 'lvm']
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  const { stdout, stderr } = await execa(saltCall, args, { env })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({ local: { vg0: ['root'] } })
})
