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

/**
 * Of oclif a command needs its class, flags and parser. How oclif finds plugins, draws help and spinners is not used
 * (see core/cli/program.ts) and would be more than half of a bundle: those modules are empty in it.
 */
const oclifParts =
  /^(?:\.\.?\/(?:config|help|help\/index|help\/util|logger|ux|handle)|ejs|clean-stack|indent-string|wrap-ansi)$/
const unused = {
  name: 'unused',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: oclifParts }, ({ path: name, importer }) =>
      importer.includes('/@oclif/core/lib/') ? { path: name, namespace: 'unused' } : undefined,
    )
    onLoad({ filter: /logger$/, namespace: 'unused' }, () => ({
      contents: 'exports.makeDebug = () => () => {}',
    }))
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
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
await bundle('salt-complete', `import './core/cli/completion/main.ts'`)
await keepCompiled('salt-complete')

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
    external: ['zeromq', 'lmdb', 'tsx', 'pino', 'ajv', '@opentelemetry/api'],
    define: { SALT_TS_VERSION: JSON.stringify(version) },
    banner: { js: banner },
    plugins: [sources, unused],
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
  const cache = path.join(root, 'dist', 'cli', `${tool}.cjs.cache`)
  await rm(cache, { force: true })
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
    'salt-complete': [`salt -c ${folder} '' `],
  }
  spawnSync(process.execPath, ['-e', warmUp, '--', '-c', folder, ...words[tool]], {
    cwd: root,
    stdio: 'ignore',
  })
  await rm(folder, { recursive: true })
}
