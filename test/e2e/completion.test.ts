import { chmod, chown, cp, mkdir, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, ROOT } from '../harness/needs.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-words-')
  await writeFile(join(folder, 'master'), `root_dir: ${folder}\n`)
  await key('minions', 'web01')
})
afterEach(() => removeFolder(folder))

const keys = (section: string) => join(folder, 'etc/salt/pki/master', section)
const words = () => join(folder, 'cache/salt-ts/completion', folder)

async function key(section: string, id: string): Promise<void> {
  await mkdir(keys(section), { recursive: true })
  await writeFile(join(keys(section), id), '')
}

/** The words after what is typed; a prompt waits for them as long as a test does. */
async function tab(typed: string, { bin = join(project, 'bin'), seconds = '60' } = {}): Promise<string[]> {
  const env = { XDG_CACHE_HOME: join(folder, 'cache'), SALT_TS_COMPLETION_SECONDS: seconds }
  const { stdout } = await execa('sh', [join(bin, 'complete.sh'), typed], { env, cwd: folder })
  return stdout.split('\n').map((row) => row.split('\t')[0] as string)
}

/** The programs of a package whose `salt-ts` never ends: what is offered then comes from the cache. */
async function hanging(): Promise<string> {
  const bin = join(folder, 'package/bin')
  await mkdir(bin, { recursive: true })
  await mkdir(join(folder, 'package/dist/cli'), { recursive: true })
  for (const name of ['complete.sh', 'complete.awk']) await cp(join(project, 'bin', name), join(bin, name))
  await symlink(join(project, 'dist/cli/completion'), join(folder, 'package/dist/cli/completion'))
  await writeFile(join(bin, 'salt-ts'), `#!/bin/sh\necho "$@" >>${folder}/asked\n`)
  await chmod(join(bin, 'salt-ts'), 0o755)
  return bin
}

test('the first Tab makes a cache for its owner only; the next ones read it, and start no Node', async () => {
  expect(await tab('salt -c . we')).toEqual(['web01'])
  expect((await stat(words())).mode & 0o777).toBe(0o700)
  const later = new Date(Date.now() + 60_000)
  await utimes(join(words(), 'made-of'), later, later)
  const bin = await hanging()
  expect(await tab('salt -c . we', { bin })).toEqual(['web01'])
  expect(await readdir(folder)).not.toContain('asked')
})

test('a new key is offered at once', async () => {
  await tab('salt -c . we')
  await key('minions', 'web02')
  expect(await tab('salt -c . we')).toEqual(['web01', 'web02'])
})

describe('if Node takes too long', () => {
  test('options and built-in functions are offered without a cache', async () => {
    const bin = await hanging()
    expect(await tab('salt -c . --summ', { bin, seconds: '0.1' })).toEqual(['--summary'])
    expect(await tab('salt -c . web01 test.pin', { bin, seconds: '0.1' })).toEqual(['test.ping'])
  })

  test('the cache is read although it is old, and made anew in the background', async () => {
    await tab('salt -c . we')
    await writeFile(join(folder, 'master'), `root_dir: ${folder}\nnodegroups: {}\n`)
    const later = new Date(Date.now() + 60_000)
    await utimes(join(folder, 'master'), later, later)
    expect(await tab('salt -c . we', { bin: await hanging() })).toEqual(['web01'])
    await until(
      () => 'the cache to be made anew',
      async () => (await readdir(folder)).includes('asked'),
    )
  })
})

test('a user who may no longer read the keys is offered no ids', async () => {
  await tab('salt -c . we')
  await rm(keys('minions'), { recursive: true })
  expect(await tab('salt -c . we', { bin: await hanging(), seconds: '0.1' })).toEqual([''])
})

test('a cache that belongs to another user is neither read nor written', needs(ROOT), async () => {
  await tab('salt -c . we')
  const made = join(words(), 'made-of')
  for (const path of [join(folder, 'cache'), made]) await chown(path, 65_534, 65_534)
  const before = (await stat(made)).mtimeMs
  const env = { XDG_CACHE_HOME: join(folder, 'cache') }
  await execa(join(project, 'bin/salt-ts'), ['__words', folder], { env })
  expect((await stat(made)).mtimeMs).toBe(before)
  expect(await tab('salt -c . we', { bin: await hanging(), seconds: '0.1' })).toEqual([''])
})
