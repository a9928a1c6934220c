/**
 * Bundles each command line tool into one file, `dist/cli/<name>.cjs`: a command is to be over before a package
 * directory full of small files has been read. So is the supervisor of a master, which is the smaller for it; the other
 * daemons run what tsc wrote. Before that, what the built-in extensions offer is written down for the loader, and what the
 * programs offer for `man` and for completing.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'

const tools = ['salt', 'salt-key', 'salt-run', 'salt-call']
const root = import.meta.dirname
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))

/**
 * Sources find their own place by `import.meta.url`, which a CommonJS file does not have: they are given the place of
 * their compiled selves. What they `createRequire` to load late becomes a plain `require`, which is as late and is bundled.
 * What they import by a path found at run time is imported by `bin/start.cjs`.
 */
const sources = {
  name: 'sources',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]core[/\\].*\.ts$/ }, async ({ path: file }) => {
      const compiled = path.relative(root, file).replaceAll(path.sep, '/').replace(/ts$/, 'js')
      const contents = (await readFile(file, 'utf8'))
        .replaceAll(/createRequire\(import\.meta\.url\)\((?=')/g, 'require(')
        .replaceAll('import.meta.resolve(', '__resolve(')
        .replaceAll(/(?<=await |= )import\((?!'\.)/g, '__import(')
        .replaceAll('import.meta.url', `__compiled(${JSON.stringify(compiled)})`)
      return { contents, loader: 'ts' }
    })
  },
}

const banner = `
const __url = (file) => require('node:url').pathToFileURL(file).href
const __compiled = (file) => __url(require('node:path').join(__dirname, '..', file))
const __resolve = (name) => __url(require.resolve(name))`

await removeOrphans()
await (await import('./dist/core/loader/manifest.js')).writeManifests()
await (await import('./dist/core/cli/programs.js')).writeAboutPrograms(path.join(root, 'dist'))

const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  conditions: ['source'],
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
}

const outputters = await readdir(path.join(root, 'plugins', 'outputters'))
await build({
  ...common,
  entryPoints: outputters
    .filter((file) => !file.startsWith('_'))
    .map((file) => path.join(root, 'plugins', 'outputters', file)),
  outdir: path.join(root, 'dist', 'cli', 'outputters'),
  outExtension: { '.js': '.cjs' },
})

for (const tool of tools) {
  await bundle(tool)
  await keepCompiled(tool)
}
await bundle('salt-master')
await bundle('salt-words', `import './core/cli/completion/main.ts'`)
await keepCompiled('salt-words')

/** One program in one file. */
async function bundle(
  program,
  contents = `import { runProgram } from './core/cli/program.ts'
    import command from './core/cli/commands/${program}.ts'
    runProgram(command)`,
) {
  await build({
    ...common,
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile: path.join(root, 'dist', 'cli', `${program}.cjs`),
    // oclif asks for typescript only where it looks for plugins, which no bundle does.
    external: ['zeromq', 'lmdb', 'tsx', 'pino', 'ajv', '@opentelemetry/api', 'typescript'],
    define: { SALT_TS_VERSION: JSON.stringify(version) },
    banner: { js: banner },
    plugins: [sources],
  })
}

/** Removes what was compiled from sources that are gone: the loader would go on offering it. */
async function removeOrphans() {
  const dist = path.join(root, 'dist')
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const source = path.relative(dist, file).replace(/\.(js|js\.map|d\.ts)$/, '.ts')
    if (entry.isFile() && source.endsWith('.ts') && !existsSync(path.join(root, source))) await rm(file)
  }
}

/** Runs the command once, up to where it finds no master, and keeps what V8 has compiled of it by then. */
async function keepCompiled(tool) {
  const folder = await mkdtemp(path.join(tmpdir(), 'salt-ts-build-'))
  const bundles = path.join(root, 'dist', 'cli')
  const cache = path.join(bundles, `${tool}.cjs.${process.version}-${process.arch}.cache`)
  const old = (await readdir(bundles)).filter((name) => name.startsWith(`${tool}.cjs.`))
  for (const name of old) await rm(path.join(bundles, name))
  await writeFile(path.join(folder, 'master'), `root_dir: ${folder}\ninterface: 127.0.0.1\n`)
  await writeFile(path.join(folder, 'minion'), `root_dir: ${folder}\nid: build\n`)
  const warmUp = `
    const script = require('./bin/start.cjs')(${JSON.stringify(tool)})
    process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(cache)}, script.createCachedData()))`
  const words = {
    salt: ['*', 'test.ping'],
    'salt-run': ['-d', 'jobs.active'],
    'salt-call': ['--local', 'test.ping'],
    'salt-key': ['-L'],
  }
  const typed = tool === 'salt-words' ? ['__words', folder] : ['-c', folder, ...words[tool]]
  spawnSync(process.execPath, ['-e', warmUp, '--', tool, ...typed], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, XDG_CACHE_HOME: folder },
  })
  await rm(folder, { recursive: true })
}
