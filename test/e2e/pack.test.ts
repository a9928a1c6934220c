/** A package of extensions, from its author to a minion and to those who call its functions. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { create } from '../../core/cli/authoring/create.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { typeCheck } from '../harness/type-check.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-pack-')
})
afterEach(() => removeFolder(folder))

/** As after `npm install`, but for the network. */
async function installDevelopment(place: string): Promise<void> {
  await mkdir(join(place, 'node_modules/@types'), { recursive: true })
  for (const name of ['typescript', '@types/node'])
    await symlink(join(project, 'node_modules', name), join(place, 'node_modules', name))
}

/** Run a program in a folder, and return what it writes to standard output. */
async function type(place: string, program: string, ...words: string[]): Promise<string> {
  const env = { NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined }
  return (await execa(program, words, { cwd: place, env })).stdout
}
const salt = (place: string, program: string, ...words: string[]) =>
  type(place, join(project, 'bin', program), ...words)

const USES_IT = `import { fn } from 'salt-ts'
export const loud = fn(async (_, { call }) => (await call('shop.greet', { name: 'Ada' })).map((line) => line.toUpperCase()))
// @ts-expect-error there is no such parameter
export const wrong = fn((_, { call }) => call('shop.greet', { nam: 'Ada' }))
`

test('a package made by salt-ts pack is installed by npm, runs on a minion, and types calls', async () => {
  const [author, host] = [join(folder, 'author'), join(folder, 'host')]
  for (const kind of ['module', 'grains', 'returner']) await create({ kind, name: 'shop', directory: author })
  await installDevelopment(author)
  const manifest = JSON.parse(await readFile(join(author, 'package.json'), 'utf8'))
  await writeFile(join(author, 'package.json'), JSON.stringify({ ...manifest, name: 'salt-ts-shop' }))
  const tarball = await salt(author, 'salt-ts', 'pack', '--fix', '--out', '../packages')
  expect(tarball).toBe(join(folder, 'packages/salt-ts-shop-0.0.0.tgz'))

  await mkdir(host)
  await writeFile(join(host, 'package.json'), '{ "type": "module" }')
  const quietly = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await type(host, 'npm', 'install', ...quietly, tarball)
  await writeFile(join(host, 'minion'), `id: m1\nroot_dir: ${folder}/root\nmodule_dirs: [${host}]\n`)
  const local = (...words: string[]) =>
    salt(host, 'salt-call', '-c', host, '--local', '--out', 'txt', ...words)
  expect(await local('shop.greet', 'Ada', '--return', 'shop')).toBe("local: ['Hello, Ada, from m1!']")
  const saved = (await readdir(host, { recursive: true })).filter((name) => /^shop\/\d+\/m1$/.test(name))
  expect(saved).toHaveLength(1)
  expect(await local('grains.get', 'shop')).toBe('local: unknown')

  await create({ kind: 'module', name: 'other', directory: host })
  await symlink(join(project, 'node_modules/@types'), join(host, 'node_modules/@types'))
  const tsconfig = await readFile(join(host, 'tsconfig.json'), 'utf8')
  await writeFile(join(host, 'tsconfig.json'), tsconfig.replace('"node"', '"node", "salt-ts-shop"'))
  await writeFile(join(host, 'modules/uses.ts'), USES_IT)
  expect(await typeCheck(host)).toBe('')
})
