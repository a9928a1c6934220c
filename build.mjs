/**
 * Builds `dist` around what tsc has put there. JavaScript of tsc stays for extensions only: the loader finds them by their
 * folders and reads their doc comments, which bundles do not keep. Declarations stay for editors.
 *
 * Programs and their child processes are CommonJS bundles of one file each (`dist/programs`). As ES modules with shared chunks
 * they start more slowly. Processor time from the start of Node, which takes 66 ms by itself, until all is loaded (Node 20):
 *
 * |             | files of tsc | ES modules | one file |
 * | ----------- | ------------ | ---------- | -------- |
 * | MWorker     | 180 ms       | 157 ms     | 122 ms   |
 * | publisher   | 325 ms       | 227 ms     | 134 ms   |
 * | job process | 233 ms       | 195 ms     | 114 ms   |
 * | API         | 512 ms       | 391 ms     | 250 ms   |
 *
 * What others import (`salt-ts`, `salt-ts/client`, `salt-ts/http`, `salt-ts/testing`, `salt-ts/tracing`, what oclif and Node's test runner load) are ES modules
 * with shared chunks, so that a process has each part once.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import start from './bin/start.cjs'

const root = import.meta.dirname
const dist = path.join(root, 'dist')
const programs = path.join(dist, 'programs')
const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))

/**
 * Programs start from V8's code cache, which saves 12 ms of a command and 40 ms of a minion. Each bundle is filled by programs that
 * are run one after the other, each up to where it finds no master.
 */
const commands = [
  { bundle: 'salt', runs: [['salt', '*', 'test.ping']] },
  { bundle: 'salt-words', runs: [['salt-words']] },
  {
    bundle: 'shared',
    runs: [
      ['salt-minion'],
      ['salt-key', '-L'],
      ['salt-run', '-d', 'jobs.active'],
      ['salt-call', '--local', 'test.ping'],
    ],
  },
]
/** Child processes that are started often use it, too, which saves 5 to 20 ms of each. */
const children = [
  'client/functions/background-process',
  'master/publisher/publisher-process',
  'master/worker/worker-process',
  'minion/jobs/job-process',
]

/** Libraries that bundles bring with them: from their own folders, full of small files, they take longer. */
const bundled = ['@msgpack/msgpack', '@oclif/core', 'yaml']
const libraries = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  conditions: ['source'],
  define: { SALT_TS_VERSION: JSON.stringify(manifest.version) },
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 200, // Node shows the line of an error
  metafile: true,
  logLevel: 'warning',
}

for (const folder of [path.join(dist, 'core', 'chunks'), path.join(dist, 'cli'), programs])
  await rm(folder, { recursive: true, force: true })

const asModules = {
  ...common,
  format: 'esm',
  packages: 'external',
  define: { ...common.define, require: 'undefined' },
}
const modules = await build({
  ...asModules,
  entryPoints: [
    'core/author/index.ts',
    'core/author/internal.ts', // for extensions of this package
    'core/client/index.ts',
    'core/client/http/index.ts',
    'core/testing/index.ts',
    'core/tracing/id-generator.ts',
    'core/cli/commands/salt-ts.ts',
    'core/cli/salt-ts/commands.ts',
    'core/cli/salt-ts/not-found.ts',
    'core/cli/authoring/test-hooks.ts',
    'core/cli/start.ts',
  ],
  outbase: root,
  outdir: dist,
  chunkNames: 'core/chunks/[hash]',
  splitting: true,
  keepNames: true, // users see the names of classes
})

const processes = (await readdir(path.join(root, 'core'), { recursive: true }))
  .filter((file) => file.endsWith('-process.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
const asPrograms = {
  ...common,
  format: 'cjs',
  // oclif asks for typescript only where it looks for plugins, which no bundle does.
  external: [...libraries.filter((name) => !bundled.includes(name)), 'typescript'],
  sourcemap: 'external', // for profiles; not in the package
  sourcesContent: false,
  define: { ...common.define, 'import.meta.url': '__url' },
  // Modules are strict. esbuild says so after the banner, where it has no effect any more.
  banner: { js: `'use strict';const __url = require('node:url').pathToFileURL(__filename).href` },
}
const programBundles = await build({
  ...asPrograms,
  entryPoints: [
    { in: 'core/cli/commands/salt.ts', out: 'salt' },
    { in: 'core/cli/commands/salt-master.ts', out: 'salt-master' },
    { in: 'core/cli/completion/main.ts', out: 'salt-words' },
    { in: 'core/cli/shared-bundle.ts', out: 'shared' },
    ...processes.map((name) => ({
      in: `core/${name}.ts`,
      out: children.includes(name) ? `${name}.bundle` : name,
    })),
  ],
  outdir: programs,
  outExtension: { '.js': '.cjs' },
})
// Code from V8's cache cannot import: what is loaded lazily is required, in programs by importModule.
for (const { imports } of Object.values(programBundles.metafile.outputs))
  for (const { kind, path: name } of imports)
    if (kind === 'dynamic-import')
      throw new Error(`Load ${name} with importModule: import() fails in V8's code cache.`)
for (const [name, folders] of Object.entries(start.EXTENSION_BUNDLES))
  await build({
    ...asPrograms,
    supported: { 'dynamic-import': false },
    stdin: { contents: await entryOfExtensions(folders), resolveDir: root, loader: 'js' },
    outfile: path.join(programs, `${name}.cjs`),
  })

for (const file of await readdir(programs, { recursive: true }))
  if (file.endsWith('.cjs')) await prepareForLoading(file.replace(/\.cjs$/, ''))

await removeOrphans(new Set(Object.keys(modules.metafile.outputs)))
await copyAssets()
await writeAboutPackage()
for (const { bundle, runs } of commands) await keepCompiled(bundle, runs)
const masterFlags = await flagsOfTheMaster()
await keepCompiled('salt-master', [[]], masterFlags)
for (const name of children) {
  const starter = path.relative(path.join(programs, path.dirname(name)), path.join(root, 'bin', 'start.cjs'))
  await writeFile(
    path.join(programs, `${name}.cjs`),
    `require(${JSON.stringify(starter)}).child(__filename)\n`,
  )
  await keepCompiled(`${name}.bundle`, [[]], name.startsWith('master/') ? masterFlags : [])
}

/**
 * Escapes what is not ASCII, so that V8 keeps the text in one byte for each character. What `bin/start.cjs` loads becomes the function
 * that it calls, and is read as Latin-1: decoding UTF-8 and putting the function around the text took 14 ms of `salt-call`.
 */
async function prepareForLoading(name) {
  const file = path.join(programs, `${name}.cjs`)
  const text = await readFile(file, 'utf8')
  const escaped = text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const isLoaded = !processes.includes(name)
  const parameters = 'require, module, __filename, importFromCached'
  await writeFile(file, isLoaded ? `(function (${parameters}) {${escaped}\n})` : escaped)
}

/** Copies what `salt-ts docs` gives to browsers. */
async function copyAssets() {
  const assets = path.join('core', 'cli', 'docs-site', 'assets')
  await cp(path.join(root, assets), path.join(dist, assets), { recursive: true })
}

/** Writes manifests of the extensions, man pages and tables for shells. */
async function writeAboutPackage() {
  await (await importSource('core/cli/programs.ts')).writeAboutPackage(dist)
}

/** Imports a source file of this package, from a bundle that is removed again. */
async function importSource(file) {
  const outfile = path.join(dist, `source-of-${path.basename(file, '.ts')}.js`)
  await build({ ...asModules, entryPoints: [file], outfile })
  try {
    return await import(outfile)
  } finally {
    await rm(outfile)
  }
}

/** The source of a file with an import for each built-in extension, by its name in `dist`. */
async function entryOfExtensions(folders) {
  const names = await Promise.all(folders.map(extensionsIn))
  const entries = names.flat().map((name) => `'${name}': () => import('./${name}.ts')`)
  return `export const extensions = {\n${entries.join(',\n')}\n}`
}

async function extensionsIn(folder) {
  const files = await readdir(path.join(root, folder))
  return files
    .filter((file) => /^[^_].*\.ts$/.test(file))
    .map((file) => `${folder}/${file.replace(/\.ts$/, '')}`)
}

/** Removes what was compiled from sources that are gone, which the loader would go on offering, and what is in bundles. */
async function removeOrphans(written) {
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const name = path.relative(root, file)
    const compiled =
      /\.(js|js\.map|d\.ts)$/.test(name) && !name.startsWith(path.join('dist', 'core', 'chunks'))
    if (!entry.isFile() || !compiled) continue
    const source = path.relative(dist, file).replace(/\.(js|js\.map|d\.ts)$/, '.ts')
    const isInBundles =
      name.startsWith(path.join('dist', 'core')) && !name.endsWith('.d.ts') && !written.has(name)
    if (isInBundles || !existsSync(path.join(root, source))) await rm(file)
  }
}

/** Returns the flags of V8 that a master and its children run with: V8 takes compiled code only under the same ones. */
async function flagsOfTheMaster() {
  const { SMALL_REQUESTS_MEMORY } = await importSource('core/master/supervision/memory.ts')
  return SMALL_REQUESTS_MEMORY.flags
}

/**
 * Loads a bundle in a process for each run, from what the one before has compiled, and keeps what V8 has compiled in the end. A run
 * is a program with its words, or nothing, for a bundle that is only loaded.
 */
async function keepCompiled(name, runs, flags = []) {
  const bundle = path.join(programs, `${name}.cjs`)
  const folder = await mkdtemp(path.join(tmpdir(), 'salt-ts-build-'))
  await writeFile(path.join(folder, 'master'), `root_dir: ${folder}\ninterface: 127.0.0.1\n`)
  // Nothing listens at port 1, so the minion ends.
  const noMaster = 'master: 127.0.0.1\nmaster_port: 1\nmaster_tries: 1\nauth_tries: 1\nauth_timeout: 0.1\n'
  await writeFile(path.join(folder, 'minion'), `root_dir: ${folder}\nid: build\n${noMaster}`)
  const warmUp = `
    const { writeFileSync } = require('node:fs')
    const start = require('./bin/start.cjs')
    const scripts = start.recordScripts()
    const exports = start.load(${JSON.stringify(bundle)})
    process.on('exit', () => {
      for (const [file, script] of scripts) writeFileSync(start.cacheOf(file), script.createCachedData())
    })
    const program = process.argv[1]
    if (program) start.startFrom(exports, program)
    else process.exit()`
  for (const [program, ...words] of runs) {
    const given = program === 'salt-words' ? ['__words', folder] : ['-c', folder, ...words]
    spawnSync(process.execPath, [...flags, '-e', warmUp, '--', ...(program ? [program, ...given] : [])], {
      cwd: root,
      stdio: 'ignore',
      timeout: 60_000,
      env: { ...process.env, XDG_CACHE_HOME: folder },
    })
  }
  await rm(folder, { recursive: true })
  if (!existsSync(start.cacheOf(bundle)))
    throw new Error(`Nothing that V8 has compiled of ${name} was kept: a program that fills its cache fails.`)
}
