import type { Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** Where the files of ${name} come from, in a sentence. */
import type { Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type FileLists, fileServerBackend, SaltInvocationError } from 'salt-ts'

/** Serves the folder that the option \`${name}.folder\` of the master names, in the environment base. */
export default fileServerBackend({
  open({ opts }) {
    const folder = opts['${name}.folder']
    if (typeof folder !== 'string') throw new SaltInvocationError('The option ${name}.folder has to name a folder.')
    const pathOf = (entry: Dirent) => relative(folder, join(entry.parentPath, entry.name))

    const list = async (saltenv: string): Promise<FileLists> => {
      const entries = saltenv === 'base' ? await readdir(folder, { recursive: true, withFileTypes: true }) : []
      const files = entries.filter((entry) => entry.isFile()).map(pathOf).sort()
      const dirs = entries.filter((entry) => entry.isDirectory()).map(pathOf).sort()
      const parents = new Set(entries.map((entry) => relative(folder, entry.parentPath)))
      return { files, dirs, emptyDirs: dirs.filter((dir) => !parents.has(dir)), links: {} }
    }

    return {
      envs: () => ['base'],
      list,
      async open(path, saltenv) {
        if (!(await list(saltenv)).files.includes(path)) return undefined // a link, which could lead out of the folder
        const handle = await open(join(folder, path))
        return { handle, path: join(folder, path), stat: await handle.stat({ bigint: true }) }
      },
    }
  },
})
`,
  test: (name) => `import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { safePath } from 'salt-ts'
import { fakeLog } from 'salt-ts/testing'
import plugin from './${name}.ts'

const { log } = fakeLog()
const folder = await mkdtemp(join(tmpdir(), '${name}-'))
test.after(() => rm(folder, { recursive: true }))
await mkdir(join(folder, 'web/empty'), { recursive: true })
await writeFile(join(folder, 'web/motd'), 'hello')
await symlink('/etc/hostname', join(folder, 'link'))
const source = await plugin.open({ opts: { '${name}.folder': folder }, log })

async function read(path: string, saltenv: string): Promise<string | undefined> {
  const safe = safePath(path)
  assert.ok(safe)
  const file = await source.open(safe, saltenv)
  if (!file) return undefined
  try {
    return await file.handle.readFile('utf8')
  } finally {
    await file.handle.close()
  }
}

test('lists files and folders, and no links', async () => {
  const dirs = ['web', 'web/empty']
  assert.deepEqual(await source.list('base'), { files: ['web/motd'], dirs, emptyDirs: ['web/empty'], links: {} })
  assert.deepEqual((await source.list('dev')).files, [])
})

test('serves files, and nothing else', async () => {
  assert.equal(await read('web/motd', 'base'), 'hello')
  for (const path of ['web', 'link', 'missing']) assert.equal(await read(path, 'base'), undefined)
  assert.equal(await read('web/motd', 'dev'), undefined)
})

test('needs a folder', () => {
  assert.throws(() => plugin.open({ opts: {}, log }), /${name}\\.folder has to name a folder/)
})
`,
  tryOut: (name) =>
    `echo 'fileserver_backend: [roots, ${name}]'  # into the configuration of a master, beside module_dirs and ${name}.folder`,
}
