import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runProgram } from '../../../modules/_program/run.ts'
import * as npm from '../../../modules/npm.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let folder: string
let app: string
let registry: Server

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-npm-')
  app = join(folder, 'app')
  await mkdir(app)
  await mkdir(join(folder, 'prefix', 'lib'), { recursive: true })
  for (const name of ['prefix', 'cache']) vi.stubEnv(`npm_config_${name}`, join(folder, name))
  for (const name of ['audit', 'fund', 'update_notifier']) vi.stubEnv(`npm_config_${name}`, 'false')
  registry = await startRegistry()
  vi.stubEnv('npm_config_registry', addressOf(registry))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await new Promise((resolve) => registry.close(resolve))
  await removeFolder(folder)
})

const ask = (fn: AnyFn, given: Record<string, unknown> = {}) => call(fn, given, fakeContext())
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

/** A registry with the packages shop@1.0.0 and shop@1.1.0. */
async function startRegistry(): Promise<Server> {
  const archives = new Map<string, Buffer>()
  for (const version of ['1.0.0', '1.1.0']) archives.set(version, await pack(version))
  const server = createServer((request, response) => {
    const [, version = ''] = /shop-(.*)\.tgz$/.exec(request.url ?? '') ?? []
    if (version) return response.end(archives.get(version))
    if (request.url !== '/shop') return response.writeHead(404).end('{}')
    const entry = (one: string) => ({
      name: 'shop',
      version: one,
      dist: { tarball: `${addressOf(server)}shop-${one}.tgz` },
    })
    const versions = Object.fromEntries([...archives.keys()].map((one) => [one, entry(one)]))
    return response.end(JSON.stringify({ name: 'shop', 'dist-tags': { latest: '1.1.0' }, versions }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function pack(version: string): Promise<Buffer> {
  const source = join(folder, `source-${version}`, 'package')
  await mkdir(source, { recursive: true })
  await writeFile(join(source, 'package.json'), JSON.stringify({ name: 'shop', version }))
  const archive = join(folder, `shop-${version}.tgz`)
  await runProgram(['tar', '-czf', archive, '-C', join(source, '..'), 'package'], fakeContext())
  return readFile(archive)
}

test('npm installs, lists and removes a package below a folder', SLOW, async () => {
  expect(await ask(npm.install, { pkg: 'shop@1.0.0', dir: app, silent: false })).toMatchObject({ added: 1 })
  expect(await ask(npm.list, { dir: app })).toMatchObject({ shop: { version: '1.0.0' } })
  const upgraded = await ask(npm.install, { pkgs: ['shop'], dir: app, registry: addressOf(registry) })
  expect(upgraded).toMatchObject({ changed: 1, change: [{ to: { name: 'shop', version: '1.1.0' } }] })
  expect(await ask(npm.list, { pkg: 'shop', dir: app, depth: 0 })).toMatchObject({
    shop: { version: '1.1.0' },
  })
  expect(await ask(npm.list, { pkg: 'none', dir: app })).toEqual({})
  expect(await ask(npm.uninstall, { pkg: 'shop', dir: app })).toBe(true)
  expect(await ask(npm.list, { dir: app })).toEqual({})
})

test('npm installs for the whole host without a folder, and changes nothing in a dry run', SLOW, async () => {
  await ask(npm.install, { pkg: 'shop', dry_run: true })
  expect(await ask(npm.list)).toEqual({})
  await ask(npm.install, { pkg: 'shop' })
  expect(await ask(npm.list)).toMatchObject({ shop: { version: '1.1.0' } })
})

test('npm passes on the error of npm about a package that does not exist', SLOW, async () => {
  await expect(ask(npm.install, { pkg: 'none', dir: app, silent: false })).rejects.toThrow(/404/)
  await expect(ask(npm.install, { pkg: 'shop', dir: join(folder, 'absent') })).rejects.toThrow(/absent/)
})

test('npm accepts no option and no shell command as the name of a package', SLOW, async () => {
  const marker = join(folder, 'marker')
  await expect(ask(npm.install, { pkg: `--prefix=${marker}`, dir: app })).rejects.toThrow()
  await expect(ask(npm.install, { pkg: `$(touch ${marker})`, dir: app })).rejects.toThrow()
  await expect(readFile(marker)).rejects.toThrow('ENOENT')
})

test('npm reads and cleans the cache', SLOW, async () => {
  await ask(npm.install, { pkg: 'shop', dir: app })
  expect(await ask(npm.cache_path)).toBe(join(folder, 'cache'))
  expect(await ask(npm.cache_list)).toContain('shop-1.1.0.tgz')
  expect(await ask(npm.cache_clean)).toBe(false)
  expect(await ask(npm.cache_clean, { force: true })).toBe(true)
  expect(await ask(npm.cache_list)).toBe('')
})
