import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { npm } from '../harness/npm.ts'
import { pageBlock } from '../harness/page-blocks.ts'
import { freePort } from '../harness/ports.ts'
import { giveKey } from '../harness/private-keys.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const programs = [
  'salt',
  'salt-api',
  'salt-call',
  'salt-cp',
  'salt-key',
  'salt-master',
  'salt-minion',
  'salt-run',
  'salt-syndic',
  'salt-ts',
]
const MEGABYTE = 1024 * 1024

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

let folder: string
let packed: Packed
let warnings: string
const daemons: ChildProcess[] = []

/** Packed from what the build made, and installed where nothing else is. */
beforeAll(async () => {
  folder = await temporaryFolder('salt-package-')
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const { stdout } = await npm(project, ...pack)
  packed = JSON.parse(stdout)[0]
  await mkdir(join(folder, 'prefix'))
  const archive = join(folder, packed.filename)
  const install = ['install', '--prefix', join(folder, 'prefix'), ...quietly, archive]
  warnings = (await npm(folder, ...install)).stderr
}, 300_000)
const quietly = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']

afterAll(async () => {
  const ended = daemons.map((child) => new Promise((done) => child.once('exit', done)))
  for (const child of daemons.toReversed()) child.kill('SIGTERM')
  await Promise.all(ended)
  await removeFolder(folder)
})

const installed = (...path: string[]) => join(folder, 'prefix', 'node_modules', ...path)
const configDir = () => join(folder, 'etc')

async function run(
  program: string,
  ...args: string[]
): Promise<{ stdout: string; code: number | undefined }> {
  const { stdout, exitCode, stderr } = await execa(installed('.bin', program), args, { reject: false })
  return { stdout: stdout || stderr, code: exitCode }
}

const salt = (...args: string[]) => run('salt', '-c', configDir(), ...args)

/** Start a daemon as it was installed; resolves when it has logged that it is ready. */
async function start(program: 'salt-master' | 'salt-minion', options: object): Promise<void> {
  const role = program.slice('salt-'.length)
  const paths = { root_dir: folder, pki_dir: `/pki/${role}`, cachedir: `/cache/${role}`, sock_dir: '/run' }
  const logs = { log_file: `/log/${role}`, pidfile: `/run/${role}.pid` }
  await mkdir(configDir(), { recursive: true, mode: 0o700 })
  await writeFile(join(configDir(), role), stringify({ ...paths, ...logs, ...options }), { mode: 0o600 })
  await giveKey(join(folder, 'pki', role), role)
  const child = spawn(installed('.bin', program), ['-c', configDir(), '-l', 'info'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  daemons.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  }
  await until(
    () => `${program} to be ready:\n${output}`,
    () => / is ready/.test(output),
  )
}

test('the package contains the files that run, and no others', () => {
  const paths = packed.files.map(({ path }) => path)
  const surplus = paths.filter((path) => /\.map$|(^|\/)test\/|\.test\.|tsbuildinfo|\.salt\//.test(path))
  expect(surplus).toEqual([])
  for (const path of [
    'bin/package.json',
    'bin/start.cjs',
    'bin/complete.sh',
    'bin/complete.awk',
    'LICENSE',
    'README.md',
    'docs/README.md',
    'package.json',
  ]) {
    expect(paths).toContain(path)
  }
  for (const program of programs) expect(paths).toContain(`bin/${program}`)
  const compiled = paths.filter((path) =>
    /^dist\/(core\/(?!chunks\/|cli\/docs-site\/assets\/)|modules|runners|plugins).*\.js$/.test(path),
  )
  const sources = compiled.map((path) => path.replace(/^dist\/(.*)js$/, '$1ts'))
  expect(sources.filter((path) => !existsSync(join(project, path)))).toEqual([])
  expect(packed.size).toBeLessThan(8 * MEGABYTE)
  expect(packed.unpackedSize).toBeLessThan(26 * MEGABYTE)
})

test('the code cache is valid for one version of Node only', () => {
  const ahead = packed.files.filter(({ path }) => path.endsWith('.cache'))
  expect(ahead.length).toBeGreaterThan(0)
  for (const { path } of ahead) expect(path).toContain(`.cjs.${process.version}-${process.arch}.cache`)
  for (const { path } of ahead) expect(readFileSync(join(project, path)).includes(project), path).toBe(false)
})

test('programs run in strict mode, like the modules they are built from', () => {
  const bundles = packed.files.filter(
    ({ path, size }) => /^dist\/programs\/.*\.cjs$/.test(path) && size > 1000,
  )
  expect(bundles.length).toBeGreaterThan(10)
  for (const { path } of bundles) {
    const text = readFileSync(join(project, path), 'latin1').replace(/^\(function \([^)]*\) \{/, '')
    expect([path, text.slice(0, 12)]).toEqual([path, "'use strict'"])
  }
})

test('every dependency runs on this Node, the newest that its versions allow included', () => {
  expect(warnings).not.toContain('EBADENGINE')
})

test('unpacked, it has the versions that are tested here, down to the last', async () => {
  await execa('tar', ['-xzf', packed.filename], { cwd: folder })
  const unpacked = join(folder, 'package')
  await npm(unpacked, 'ci', '--omit=dev', ...quietly)
  const manifests = readdirSync(unpacked, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(node_modules\/(@[^/]+\/)?[^/]+\/)*package\.json$/.test(path),
  )
  const { packages } = JSON.parse(readFileSync(join(project, 'npm-shrinkwrap.json'), 'utf8'))
  expect(manifests.length).toBeGreaterThan(50)
  for (const path of manifests) {
    const { version } = JSON.parse(readFileSync(join(unpacked, path), 'utf8'))
    const location = dirname(path) === '.' ? '' : dirname(path)
    expect([location, version]).toEqual([location, packages[location].version])
  }
})

test.each(programs)('%s is executable and prints its version', async (program) => {
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  const { stdout, code } = await run(program, '--version')
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^${program} .*${version.replaceAll('.', '\\.')}`))
})

test('master and minion of the package run a job, and a module of a user', async () => {
  const [publish_port, ret_port] = [await freePort(), await freePort()]
  await mkdir(join(folder, 'own', 'modules'), { recursive: true })
  await writeFile(join(folder, 'own', 'modules', 'hello.ts'), pageBlock('README.md', 'A module', 'ts'))
  const accepting = { interface: '127.0.0.1', publish_port, ret_port, auto_accept: true }
  await start('salt-master', { ...accepting, worker_threads: 1 })
  const module_dirs = [join(folder, 'own')]
  await start('salt-minion', { id: 'm1', master: '127.0.0.1', master_port: ret_port, module_dirs })

  expect(await salt('*', 'test.ping')).toEqual({ stdout: 'm1:\n    True', code: 0 })
  const greeted = await salt('*', 'hello.greet', 'Ada', 'times=2')
  expect(greeted).toEqual({ stdout: 'm1:\n    - Hello, Ada!\n    - Hello, Ada!', code: 0 })
  expect((await salt('*', 'sys.doc', 'hello.greet')).stdout).toContain('Say hello.')
  const refused = await salt('*', 'hello.greet', 'Ada', 'times=x')
  expect(refused.code).not.toBe(0)
  expect(refused.stdout).toContain('must be an integer')

  expect((await run('salt-key', '-c', configDir(), '-l', 'acc')).stdout).toContain('m1')
  expect((await run('salt-run', '-c', configDir(), 'manage.up')).stdout).toBe('- m1')
  const local = await run('salt-call', '-c', configDir(), '--local', 'test.echo', 'here')
  expect(local).toEqual({ stdout: 'local:\n    here', code: 0 })
})

test('a program can use the client of the package', async () => {
  const script = join(folder, 'prefix', 'program.mjs')
  await writeFile(script, pageBlock('docs/client.md', '# Call', 'js'))
  const env = { SALT_CONFIG_DIR: configDir() }
  const { stdout } = await execa(process.execPath, [script], { env })
  expect(stdout).toBe('m1 returned true')
})

test('a program can run runners and wheel functions', async () => {
  const script = join(folder, 'prefix', 'runners.mjs')
  await writeFile(script, pageBlock('docs/client.md', 'Runners', 'js'))
  const env = { SALT_CONFIG_DIR: configDir() }
  const { stdout } = await execa(process.execPath, [script], { env })
  expect(stdout).toBe("[ 'm1' ]\n{ minions: [ 'm1' ] }")
})

test('an editor finds the types of the author API and of the client', async () => {
  const consumer = join(folder, 'prefix')
  cpSync(join(folder, 'own', 'modules', 'hello.ts'), join(consumer, 'hello.ts'))
  await writeFile(join(consumer, 'client.mts'), pageBlock('docs/client.md', '# Call', 'js'))
  await writeFile(join(consumer, 'runners.mts'), pageBlock('docs/client.md', 'Runners', 'js'))
  await writeFile(join(consumer, 'typed.mts'), pageBlock('docs/client.md', 'Types', 'ts'))
  const libraries = { lib: ['es2023'], types: ['node'] } // as `salt-ts create` writes: those of browsers take long to check
  const options = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, ...libraries }
  const typeRoots = [join(project, 'node_modules', '@types')]
  await writeFile(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, typeRoots }, include: ['*.ts', '*.mts'] }),
  )
  await writeFile(join(consumer, 'package.json'), '{ "type": "module" }')
  const tsc = join(project, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await execa(process.execPath, [tsc, '-p', consumer], { reject: false })
  expect(stdout).toBe('')
})
