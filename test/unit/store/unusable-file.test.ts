import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkStore, openStore } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'

const child = await testProgram('store-child.ts', import.meta.url)

let directory: string
let path: string
beforeEach(async () => {
  directory = await temporaryFolder('salt-unusable-')
  path = join(directory, 'test.mdb')
  const store = openStore(path)
  await store.put(['a'], 1)
  await store.close()
})
afterEach(() => removeFolder(directory))

const isRoot = process.geteuid?.() === 0
const withoutRights = isRoot ? needs(program('setpriv')) : {}

/** Open the store in a process of its own, which may crash or hang: with no more rights than any user has. */
function openInChild() {
  const [command = '', ...args] = [
    ...(isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []),
    ...[process.execPath, child, path, 'open-and-close', '0'],
  ]
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 10_000 })
  return { status, stderr }
}

async function put(what: 'folder' | 'pipe', at: string): Promise<void> {
  await rm(at)
  if (what === 'pipe') execFileSync('mkfifo', [at])
  else await mkdir(at)
}

describe.each(['', '-lock'])('in place of the file test.mdb%s', (ending) => {
  test.each(['folder', 'pipe'] as const)('a %s is named', SLOW, async (what) => {
    await put(what, `${path}${ending}`)
    const { status, stderr } = openInChild()
    expect(stderr).toContain(
      `The store ${path} cannot be opened: ${path}${ending} is a ${what}, not a regular file. Correct that, and start again.`,
    )
    expect(status).toBe(1)
  })

  test('one that this user may not open is named, with the remedy', {
    ...withoutRights,
    ...SLOW,
  }, async () => {
    await chmod(`${path}${ending}`, 0)
    const { status, stderr } = openInChild()
    expect(stderr).toContain(
      `The store ${path} cannot be opened: ${path}${ending} may not be read and written by`,
    )
    expect(stderr).toMatch(/Run: chown \S+ \S+test\.mdb/)
    expect(status).toBe(1)
  })
})

test('a link to a file that does not exist is named', async () => {
  await rm(path)
  await symlink(join(directory, 'away', 'test.mdb'), path)
  expect(() => openStore(path)).toThrow(
    `${path} is a symbolic link to ${join(directory, 'away', 'test.mdb')}, which`,
  )
})

test('a store whose lock table cannot be opened is not taken for a damaged one', async () => {
  await put('folder', `${path}-lock`)
  expect(await checkStore(path)).toBeUndefined()
  expect(await readdir(directory)).toEqual(['test.mdb', 'test.mdb-lock'])
})
