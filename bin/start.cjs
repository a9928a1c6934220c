/**
 * Runs a bundled command with the code V8 compiled of it when it was built. Under another version of Node V8 refuses
 * that and compiles anew: slower by some milliseconds, nothing else.
 */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const vm = require('node:vm')

module.exports = function start(name) {
  const file = path.join(__dirname, '..', 'dist', 'cli', `${name}.cjs`)
  const source = `(function (require, __dirname, __import) {${readFileSync(file, 'utf8')}\n})`
  const script = new vm.Script(source, { filename: file, cachedData: compiled(file) })
  // V8 forgets how code from a cache imports: this file does it instead.
  script.runInThisContext()(createRequire(file), path.dirname(file), importModule)
  return script
}

/** Built-in outputters are bundled, too: read as modules they would take longer than what they are needed for. */
function importModule(specifier) {
  const name = /\/dist\/plugins\/outputters\/(\w+)\.js$/.exec(specifier)?.[1]
  const bundle = name && path.join(__dirname, '..', 'dist', 'cli', 'outputters', `${name}.cjs`)
  return bundle && existsSync(bundle) ? Promise.resolve(require(bundle)) : import(specifier)
}

function compiled(file) {
  try {
    return readFileSync(`${file}.cache`)
  } catch {
    return undefined
  }
}
