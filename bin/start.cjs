/**
 * Runs a program, or a child process of one, from its bundle, with the code that V8 compiled from it when it was built. Under
 * another version of Node it is compiled anew, slower by some milliseconds: V8 itself takes code of another build of the same V8,
 * and fails with it.
 *
 * While another version is being installed in this place, files are missing for a moment: a program waits for them.
 */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { fileURLToPath } = require('node:url')
const vm = require('node:vm')

const DIST = path.join(__dirname, '..', 'dist')
/**
 * The folders of built-in extensions that are bundled, by bundle. Commands need outputters, and often nothing else; the processes of a
 * master and of a minion need other plugins, and no modules: processes of jobs run those.
 */
const EXTENSION_BUNDLES = {
  outputters: ['plugins/outputters'],
  plugins: ['executors', 'fileserver', 'grains', 'matchers', 'wheel'].map((kind) => `plugins/${kind}`),
  modules: ['modules'],
  runners: ['runners'],
}
const WAIT_MS = 1000 * Number(process.env.SALT_TS_INSTALL_SECONDS ?? 10)
const POLL_MS = 50

/** What Node and a program hold at once while they start; a daemon has sockets, stores and children besides. */
const MIN_FILES = 64
const MIN_FILES_OF_DAEMON = 128
const DAEMONS = ['salt-api', 'salt-master', 'salt-minion', 'salt-syndic']
/** As for everything that is wrong with how a program is set up (EX_CONFIG). */
const EXIT_CONFIG = 78

/**
 * The most frequent commands have bundles of their own: from the one that the others share they take up to 10 ms longer (of
 * 120 ms). salt-master has V8 flags that save memory, and V8 takes compiled code only under the flags that it was compiled with. More
 * bundles would not fit into the package.
 */
const ALONE = ['salt', 'salt-master', 'salt-words']

/** The bundles that this process runs, for the build, which keeps what was compiled meanwhile. */
let scripts
/** Functions that import built-in extensions, by their names in `dist`, such as `modules/test`, for each bundle that is loaded. */
const extensions = new Map()

module.exports = function start(name) {
  checkOpenFiles(name)
  for (const end = Date.now() + WAIT_MS; ; ) {
    try {
      return void startFrom(load(bundleOf(name)), name)
    } catch (error) {
      if (Date.now() >= end) return giveUp(name, error)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
    }
  }
}

/** A program that is ES modules, for what oclif loads besides. */
module.exports.modules = (name) => {
  checkOpenFiles(name)
  return importModule(path.join(DIST, 'core', 'cli', 'commands', `${name}.js`))
    .then(({ default: program }) => program.start())
    .catch((error) => giveUp(name, error))
}

/** Runs the bundle of a child process; `file` is the entry that its parent starts, in the folder of the bundle. */
module.exports.child = (file) => void load(file.replace(/\.cjs$/, '.bundle.cjs'))

/** For the build, which runs programs to keep what is compiled meanwhile: returns the scripts of this process by bundle. */
module.exports.recordScripts = () => {
  scripts = new Map()
  return scripts
}
Object.assign(module.exports, { cacheOf, EXTENSION_BUNDLES, load, startFrom })

const bundleOf = (name) => path.join(DIST, 'programs', ALONE.includes(name) ? `${name}.cjs` : 'shared.cjs')

/** What completes command lines has no class: it does its work when it is loaded. */
function startFrom(bundle, name) {
  if (!bundle.programs) return bundle.default?.start()
  bundle.programs[name]()
    .then(({ default: program }) => program.start())
    .catch((error) => giveUp(name, error))
}

/** Before anything else is read: whatever no file is left for would be missed, and said to be missing. */
function checkOpenFiles(name) {
  const allowed = allowedOpenFiles()
  const least = DAEMONS.includes(name) ? MIN_FILES_OF_DAEMON : MIN_FILES
  if (allowed >= least) return
  process.stderr.write(
    `ERROR: ${name} may open ${allowed} files, and needs ${least} at least. Run "ulimit -n ${MIN_FILES_OF_DAEMON * 8}" before it is ` +
      'started; for a service set LimitNOFILE in its unit.\n',
  )
  process.exit(EXIT_CONFIG)
}

/** Where the system does not tell, there are enough. */
function allowedOpenFiles() {
  try {
    const [, allowed] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return Number(allowed ?? Number.POSITIVE_INFINITY)
  } catch (error) {
    return error.code === 'EMFILE' ? 'too few' : Number.POSITIVE_INFINITY
  }
}

/**
 * Runs a bundle, which the build has made a function. V8 forgets how code from a cache imports: `importModule` does it instead
 * (core/process/import-module.ts).
 */
function load(filename) {
  const script = new vm.Script(readFileSync(filename, 'latin1'), {
    // V8 keeps the name with compiled code, and shows it in traces: it must not be that of the folder where the package was built.
    filename: path.join('salt-ts', path.relative(path.dirname(DIST), filename)),
    cachedData: compiledCode(filename),
  })
  scripts?.set(filename, script)
  const module = { exports: {} }
  script.runInThisContext()(createRequire(filename), module, filename, importModule)
  return module.exports
}

function compiledCode(bundle) {
  try {
    return readFileSync(cacheOf(bundle))
  } catch {
    return undefined
  }
}

function cacheOf(bundle) {
  return `${bundle}.${process.version}-${process.arch}.cache`
}

/**
 * Built-in extensions are bundled, too: as ES modules they and what they import take longer to read than what they are needed
 * for. Other files of this package are waited for, since Node remembers what it has not found.
 */
async function importModule(specifier) {
  const file = specifier.startsWith('file:') ? fileURLToPath(specifier) : specifier
  if (!isOwn(file)) return import(specifier)
  const bundled = bundledExtension(path.relative(DIST, file).replace(/\.js$/, ''))
  if (bundled) return bundled()
  for (const end = Date.now() + WAIT_MS; !existsSync(file) && Date.now() < end; )
    await new Promise((done) => setTimeout(done, POLL_MS))
  return import(specifier)
}

function bundledExtension(name) {
  const folder = path.dirname(name)
  const [bundle] = Object.entries(EXTENSION_BUNDLES).find(([, folders]) => folders.includes(folder)) ?? []
  if (!bundle) return undefined
  const file = path.join(DIST, 'programs', `${bundle}.cjs`)
  if (!extensions.has(bundle)) extensions.set(bundle, existsSync(file) ? load(file).extensions : {})
  return extensions.get(bundle)[name]
}

const isOwn = (file) => file.startsWith(DIST + path.sep)

function giveUp(name, error) {
  process.stderr.write(
    `ERROR: ${name} cannot start: ${error.message.split('\n')[0]}. Another version of salt-ts is being installed here, or this one is ` +
      'damaged. Try again in a moment; if that does not help, install it again.\n',
  )
  process.exit(1)
}
