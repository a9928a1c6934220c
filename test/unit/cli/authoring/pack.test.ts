import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hasTypes, writeDeclarations } from '../../../../core/cli/authoring/pack/declarations.ts'
import { dependencyProblems } from '../../../../core/cli/authoring/pack/dependencies.ts'
import { additionsTo, leftOut, problemsIn, remarksOn } from '../../../../core/cli/authoring/pack/manifest.ts'
import { pack } from '../../../../core/cli/authoring/pack/pack.ts'
import { readManifest } from '../../../../core/cli/authoring/package-manifest.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

const project = fileURLToPath(new URL('../../../../', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-pack-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

async function put(file: string, content: string | object): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
  await writeFile(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
}
const packed = ({ fix = false } = {}) => pack({ folder, out: path.join(folder, 'out'), fix })
const contents = async (tarball: string) =>
  (await execa('tar', ['-tf', tarball])).stdout
    .split('\n')
    .map((name) => name.slice('package/'.length))
    .sort()

const COMPLETE = {
  name: 'salt-ts-shop',
  version: '1.0.0',
  type: 'module',
  engines: { node: '>=20' },
  'salt-ts': { modules: './modules' },
  files: ['modules'],
}
const MODULE = "import { fn } from 'salt-ts'\nexport const list = fn(() => ['apples'])\n"

test('all missing fields of package.json are listed at once, and nothing is written', async () => {
  await put('package.json', { name: 'mine', type: 'commonjs' })
  await put('_modules/shop.ts', MODULE)
  await put('utils/text.ts', 'export const one = 1\n')
  await expect(packed()).rejects.toThrow(
    `${folder}/package.json cannot be packed:
  It lacks "version": run npm pkg set version=1.0.0.
  It lacks "type": "module"; Node takes the files for CommonJS otherwise.
  It lacks "engines": {"node":">=20.19"}; npm warns on hosts with an older Node.
  It lacks "imports": {"#utils/*":"./utils/*"}; the files find #utils/… by it.
  It lacks "salt-ts": {"modules":"./_modules"}; minions find the extensions by it.
  It lacks "files": ["_modules","utils","!**/*.test.ts"]; npm packs everything otherwise.
  salt-ts pack --fix writes these.`,
  )
  expect(JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'))).toEqual({
    name: 'mine',
    type: 'commonjs',
  })
})

test(
  'missing fields are written on request; tests and generated files stay out of the package',
  SLOW,
  async () => {
    await put('package.json', { name: 'salt-ts-shop', version: '1.0.0' })
    await put('modules/shop.ts', MODULE)
    await put('modules/shop.test.ts', '')
    await put('modules/_catalogue.d.ts', '')
    await put('fleet.test.ts', '')
    await put('README.md', '# Shop\n')
    const { tarball, notes } = await packed({ fix: true })
    expect(await contents(tarball)).toEqual(['README.md', 'modules/shop.ts', 'package.json'])
    expect(notes).toEqual([
      `set in ${folder}/package.json: type, engines, salt-ts, files`,
      expect.stringContaining('types for call(), which need npm install --save-dev typescript'),
    ])
    expect(await additionsTo(folder, await readManifest(path.join(folder, 'package.json')))).toEqual([])
  },
)

test('modules in JavaScript get no type declarations', async () => {
  await put('modules/shop.js', 'export const list = () => []\n')
  expect(await hasTypes(path.join(folder, 'modules'))).toBe(false)
})

test('a package without a folder for its modules is an error, and so is a missing npm', SLOW, async () => {
  await put('package.json', COMPLETE)
  await put('modules/shop.js', 'export const list = () => []\n')
  await expect(pack({ folder, out: path.join(folder, 'package.json'), fix: false })).rejects.toThrow(
    `The folder ${folder}/package.json cannot be made: EEXIST`,
  )
  vi.stubEnv('PATH', folder)
  await expect(packed()).rejects.toThrow('salt-ts pack needs the program npm, which is not in PATH.')
})

test('a folder that npm leaves out of the package is a problem, also one of helpers', async () => {
  await put('utils/text.ts', 'export const one = 1\n')
  expect(await leftOut(folder, COMPLETE, ['package.json', 'modules-old/shop.ts'])).toEqual([
    'npm packs nothing of ./modules: add it to "files".',
    'npm packs nothing of ./utils: add it to "files".',
  ])
  expect(await leftOut(folder, COMPLETE, ['modules/shop.ts', 'utils/text.ts'])).toEqual([])
})

test('a TypeScript error is an error', SLOW, async () => {
  await put('package.json', COMPLETE)
  await put('modules/shop.ts', 'export const list = (): string => 7\n')
  await put('tsconfig.json', { compilerOptions: { module: 'nodenext', lib: ['es5'], types: [] } })
  await mkdir(path.join(folder, 'node_modules'))
  await symlink(path.join(project, 'node_modules/typescript'), path.join(folder, 'node_modules/typescript'))
  await expect(writeDeclarations(folder, './modules', path.join(folder, 'stage'))).rejects.toThrow(
    /nothing is packed:\nmodules\/shop\.ts.*'number' is not assignable/,
  )
})

test.each([
  [{ module: './modules' }, `there is no kind 'module' of extensions. Did you mean 'modules'?`],
  [{ modules: '../modules' }, 'does not name a folder of the package'],
  [{ modules: 7 }, 'does not name a folder of the package'],
  [{ modules: './none' }, 'there is no such folder'],
  [{ modules: './empty' }, 'the folder has no extensions'],
  [{}, '"salt-ts" names no folder'],
  ['modules', '"salt-ts" names no folder'],
])('the section %j of package.json is refused', async (section, sentence) => {
  await mkdir(path.join(folder, 'empty'))
  expect(await problemsIn(folder, { ...COMPLETE, 'salt-ts': section })).toEqual([
    expect.stringContaining(sentence),
  ])
})

test('a folder without extensions, and one without package.json, are errors', async () => {
  await expect(packed()).rejects.toThrow('package.json cannot be read')
  await put('package.json', '[]')
  await expect(packed()).rejects.toThrow('package.json cannot be read: it is not an object')
  await put('package.json', { name: 'mine', version: '1.0.0' })
  await expect(packed({ fix: true })).rejects.toThrow(
    'There are no extensions: no files in modules, runners,',
  )
})

test('dependencies that minions cannot use are named, also indirect ones', async () => {
  const dependencies = { 'salt-ts': '1', native: '1', gone: '1', plain: '1' }
  const install = (name: string, manifest: object) => put(`node_modules/${name}/package.json`, manifest)
  await install('salt-ts', { dependencies: { native: '1' } })
  await install('native', { scripts: { install: 'node-gyp rebuild' } })
  await install('plain', { dependencies: { built: '1', plain: '1' }, scripts: { prepare: 'tsc' } })
  await install('built', {})
  await put('node_modules/built/binding.gyp', '')
  expect(await dependencyProblems(folder, { ...COMPLETE, dependencies })).toEqual([
    expect.stringContaining('a minion uses its own copy: move it with npm install --save-dev salt-ts.'),
    expect.stringContaining('Its dependency native has an install script'),
    'Its dependency gone is not installed: run npm install first.',
    expect.stringContaining('Its dependency built has an install script'),
  ])
})

test('probable mistakes of an author cause remarks', async () => {
  await put('grains/role.ts', '')
  expect(await remarksOn(folder, { ...COMPLETE, name: '@acme/shop', private: true })).toEqual([
    expect.stringContaining('the folder grains is not in "salt-ts"'),
    expect.stringContaining('plugin_packages has to name this one'),
    expect.stringContaining('"private": true keeps npm publish'),
  ])
  expect(await remarksOn(folder, { ...COMPLETE, name: '@acme/salt-ts-shop' })).toHaveLength(1)
})

test(
  'files with secrets are refused, by name or as private keys, and examples of such files are packed',
  SLOW,
  async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
    await put('package.json', COMPLETE)
    await put('modules/shop.ts', MODULE)
    await put('modules/.env.example', 'TOKEN=\n')
    await put('modules/.env', 'TOKEN=1\n')
    await put('modules/.env.production', 'TOKEN=1\n')
    await put('modules/keys/deploy', `Comment: mine\n${pem}`)
    const refused = await packed().then(String, (error: Error) => error.message)
    expect(refused.split('\n').slice(1).sort()).toEqual(
      ['.env', '.env.production', 'keys/deploy'].map(
        (name) =>
          `  modules/${name} seems to hold secrets, and npm would pack it: move it out of the folder, or add "!modules/${name}" to "files".`,
      ),
    )
    const left = ['!modules/.env', '!modules/.env.production', '!modules/keys/deploy']
    await put('package.json', { ...COMPLETE, files: ['modules', ...left] })
    expect(await contents((await packed()).tarball)).toEqual([
      ...['modules/.env.example', 'modules/shop.ts', 'package.json'],
    ])
  },
)
