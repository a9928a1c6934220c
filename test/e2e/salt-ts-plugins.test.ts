import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))

/** As after `npm install salt-ts salt-ts-plugin-hello`, but for the network. */
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-plugins-')
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '.bin'), { recursive: true })
  await mkdir(join(modules, '@oclif'))
  await symlink(project, join(modules, 'salt-ts'))
  await symlink('../salt-ts/bin/salt-ts', join(modules, '.bin/salt-ts'))
  await symlink(join(project, 'node_modules/@oclif/core'), join(modules, '@oclif/core'))
  await cp(join(project, 'test/fixtures/salt-ts-plugin-hello'), join(modules, 'salt-ts-plugin-hello'), {
    recursive: true,
  })
})
afterAll(() => removeFolder(folder))

async function type(...words: string[]): Promise<{ code: number | undefined; text: string }> {
  const options = { cwd: folder, reject: false, all: true } as const
  const { exitCode, all } = await execa(join(folder, 'node_modules/.bin/salt-ts'), words, options)
  return { code: exitCode, text: all }
}

test('a package with an oclif plugin adds commands to salt-ts, and its hooks run', async () => {
  expect(await type('hello', 'Ada')).toEqual({ code: 0, text: 'Hello, Ada, from salt-ts!' })
  expect(await type('hello', 'again', 'Ada', '--loud')).toEqual({
    code: 0,
    text: 'HELLO, ADA, FROM SALT-TS!',
  })
  expect((await type('types')).text).toContain('the hook of the plugin ran')
})

test('help lists the commands of plugins, and describes each', async () => {
  expect((await type('--help')).text).toMatch(/hello +Greet somebody, as a plugin does\./)
  expect((await type('hello', '--help')).text).toContain('$ salt-ts hello NAME')
})

test('errors of commands of plugins are sentences, with exit codes', async () => {
  expect(await type('hello', 'nobody')).toEqual({ code: 3, text: 'ERROR: Nobody is not here.' })
  expect(await type('hello', 'Ada', '--lout')).toEqual({
    code: 64,
    text: expect.stringContaining('salt-ts: error: There is no option --lout'),
  })
})

test('commands of salt-ts itself have precedence over those of a plugin', async () => {
  expect(await type('create', 'module', 'Hello')).toEqual({
    code: 64,
    text: expect.stringContaining("'Hello' is not a valid name"),
  })
})

test('a plugin that cannot be loaded is left out with a sentence', async () => {
  const broken = join(folder, 'node_modules/@acme/salt-ts-plugin-broken')
  await mkdir(broken, { recursive: true })
  const commands = { strategy: 'explicit', target: './missing.js', identifier: 'commands' }
  const manifest = { name: '@acme/salt-ts-plugin-broken', version: '1.0.0', oclif: { commands } }
  await writeFile(join(broken, 'package.json'), JSON.stringify(manifest))
  const { code, text } = await type('hello', 'Ada')
  expect(text).toMatch(
    /^WARNING: The plugin @acme\/salt-ts-plugin-broken of salt-ts is left out: .*missing\.js.*\nHello, Ada/,
  )
  expect(code).toBe(0)
})
