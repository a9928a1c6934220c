/**
 * Bundles each command line tool into one file, `dist/cli/<name>.cjs`: a command is to be over before a package
 * directory full of small files has been read. The daemons run what tsc wrote.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'esbuild'

const tools = ['salt', 'salt-key', 'salt-run', 'salt-call']
const root = import.meta.dirname
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))

/**
 * Sources find their own place by `import.meta.url`, which a CommonJS file does not have: they are given the place of
 * their compiled selves. What they `createRequire` to load late becomes a plain `require`, which is as late and is bundled.
 */
const sources = {
  name: 'sources',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]core[/\\].*\.ts$/ }, async ({ path: file }) => {
      const compiled = path.relative(root, file).replaceAll(path.sep, '/').replace(/ts$/, 'js')
      const contents = (await readFile(file, 'utf8'))
        .replaceAll(/createRequire\(import\.meta\.url\)\((?=')/g, 'require(')
        .replaceAll('import.meta.resolve(', '__resolve(')
        .replaceAll('import.meta.url', `__compiled(${JSON.stringify(compiled)})`)
      return { contents, loader: 'ts' }
    })
  },
}

/**
 * Of oclif a command needs its class, flags and parser. How oclif finds plugins, draws help and spinners is not used
 * (see core/cli/program.ts) and would be more than half of a bundle: those modules are empty in it.
 */
const oclifParts = /^(?:\.\.?\/(?:config|help|help\/index|help\/util|ux|handle)|ejs|clean-stack|indent-string|wrap-ansi)$/
const unused = {
  name: 'unused',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: oclifParts }, ({ path: name, importer }) =>
      importer.includes('/@oclif/core/lib/') ? { path: name, namespace: 'unused' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

const banner = `
const __url = (file) => require('node:url').pathToFileURL(file).href
const __compiled = (file) => __url(require('node:path').join(__dirname, '..', file))
const __resolve = (name) => __url(require.resolve(name))`

for (const tool of tools) {
  await build({
    stdin: {
      contents: `import { runProgram } from './core/cli/program.ts'
        import program from './core/cli/commands/${tool}.ts'
        runProgram(program)`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile: path.join(root, 'dist', 'cli', `${tool}.cjs`),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    conditions: ['source'],
    external: ['zeromq', 'lmdb', 'tsx', 'pino', 'ajv'],
    define: { SALT_TS_VERSION: JSON.stringify(version) },
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: banner },
    plugins: [sources, unused],
    logLevel: 'warning',
  })
}
