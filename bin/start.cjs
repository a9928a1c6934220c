/**
 * Runs a bundled command with the code V8 compiled of it when it was built. Under another version of Node it is compiled
 * anew, slower by some milliseconds: V8 itself takes code of another build of the same V8, and fails with it.
 *
 * While another version is being installed in this place, files are missing for a moment: they are waited for.
 */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { fileURLToPath } = require('node:url')
const vm = require('node:vm')

const WAIT_MS = 1000 * Number(process.env.SALT_TS_INSTALL_SECONDS ?? 10)
const LOOK_MS = 50

/** What Node and a program hold at once while they start; a daemon has sockets, stores and children besides. */
const LEAST_FILES = 64
const LEAST_FILES_OF_DAEMON = 128
const DAEMONS = ['salt-api', 'salt-master', 'salt-minion']
/** As for everything that is wrong with how a program is set up (EX_CONFIG). */
const EXIT_CONFIG = 78

module.exports = function start(name) {
  checkOpenFiles(name)
  const file = path.join(__dirname, '..', 'dist', 'cli', `${name}.cjs`)
  const script = compiledScript(name, file)
  // V8 forgets how code from a cache imports: this file does it instead.
  script.runInThisContext()(createRequire(file), path.dirname(file), importModule)
  return script
}

/** A program that is not bundled. */
module.exports.modules = (name) => {
  checkOpenFiles(name)
  const core = path.join(__dirname, '..', 'dist', 'core', 'cli')
  return Promise.all([
    importModule(path.join(core, 'program.js')),
    importModule(path.join(core, 'commands', `${name}.js`)),
  ])
    .then(([{ runProgram }, { default: program }]) => runProgram(program))
    .catch((error) => giveUp(name, error))
}

/** Before anything else is read: whatever no file is left for would be missed, and said to be missing. */
function checkOpenFiles(name) {
  const allowed = allowedOpenFiles()
  const least = DAEMONS.includes(name) ? LEAST_FILES_OF_DAEMON : LEAST_FILES
  if (allowed >= least) return
  process.stderr.write(
    `ERROR: ${name} may open ${allowed} files, and needs ${least} at least. Run "ulimit -n ${LEAST_FILES_OF_DAEMON * 8}" before it is ` +
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

function compiledScript(name, file) {
  for (const end = Date.now() + WAIT_MS; ; ) {
    try {
      const source = `(function (require, __dirname, __import) {${readFileSync(file, 'utf8')}\n})`
      return new vm.Script(source, { filename: file, cachedData: compiled(file) })
    } catch (error) {
      if (Date.now() >= end) return giveUp(name, error)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
    }
  }
}

/** Built-in outputters are bundled, too: read as modules they would take longer than what they are needed for. */
async function importModule(specifier) {
  const name = /\/dist\/plugins\/outputters\/(\w+)\.js$/.exec(specifier)?.[1]
  const bundle = name && path.join(__dirname, '..', 'dist', 'cli', 'outputters', `${name}.cjs`)
  if (bundle && existsSync(bundle)) return require(bundle)
  // Node remembers what it has not found: it is not asked before the file is there.
  const file = specifier.startsWith('file:') ? fileURLToPath(specifier) : specifier
  for (const end = Date.now() + WAIT_MS; isOwn(file) && !existsSync(file) && Date.now() < end; )
    await new Promise((done) => setTimeout(done, LOOK_MS))
  return import(specifier)
}

const isOwn = (file) => file.startsWith(path.join(__dirname, '..', 'dist') + path.sep)

function giveUp(name, error) {
  process.stderr.write(
    `ERROR: ${name} cannot start: ${error.message.split('\n')[0]}. Another version of salt-ts is being installed here, or this one is ` +
      'damaged. Try again in a moment; if that does not help, install it again.\n',
  )
  process.exit(1)
}

function compiled(file) {
  try {
    return readFileSync(`${file}.${process.version}-${process.arch}.cache`)
  } catch {
    return undefined
  }
}
