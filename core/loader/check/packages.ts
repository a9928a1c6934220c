/** The npm packages that files import: whether they are installed, declared, and need a script when they are installed. */
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import { type Fields, isRecord } from '../../base/record.ts'
import { importsOf } from './imports.ts'
import { type Finding, finding } from './rules.ts'
import type { SourceText } from './source-text.ts'

interface Manifest {
  readonly path: string
  readonly content: Fields
}

/** Packages that are searched for install scripts, at most, for one import. */
const MAX_PACKAGES = 300

/** `optional` has packages without which the file works: it names them in `dependsOn`. */
export function packageFindings(source: SourceText, optional: ReadonlySet<string>): Finding[] {
  const manifest = nearestManifest(path.dirname(source.path))
  const found = new Map<string, Finding[]>()
  for (const { specifier, at } of importsOf(source)) {
    const name = packageName(specifier)
    if (name === undefined || name === manifest?.content.name || found.has(name)) continue
    const folder = packageFolder(name, path.dirname(source.path))
    const told =
      folder === undefined
        ? missing(name, optional)
        : [...undeclared(name, manifest), ...installScript(name, folder)]
    found.set(
      name,
      told.map(([rule, message]) => finding(rule, source.place(at), message)),
    )
  }
  return [...found.values()].flat()
}

/** Return the packages that `dependsOn` names. */
export const optionalPackages = (dependsOn: unknown): ReadonlySet<string> =>
  new Set([dependsOn].flat().flatMap((one) => (isRecord(one) ? [one.package].flat().map(String) : [])))

/** Return the package of a specifier; undefined for files, Node's own modules, and salt-ts. */
function packageName(specifier: string): string | undefined {
  if (/^[./#]|^[a-z]+:/.test(specifier) || isBuiltin(specifier)) return undefined
  const [first = '', second = ''] = specifier.split('/')
  const name = first.startsWith('@') ? `${first}/${second}` : first
  return name === 'salt-ts' ? undefined : name
}

type Told = [rule: 'missing-package' | 'undeclared-package' | 'install-script', message: string]

function missing(name: string, optional: ReadonlySet<string>): Told[] {
  const message = `The package '${name}' is not installed here; run 'npm install ${name}', or remove the import.`
  return optional.has(name) ? [] : [['missing-package', message]]
}

const SHIPPED = ['dependencies', 'optionalDependencies', 'peerDependencies']

function undeclared(name: string, manifest: Manifest | undefined): Told[] {
  if (!manifest || SHIPPED.some((key) => namesIn(manifest.content[key]).includes(name))) return []
  const place = namesIn(manifest.content.devDependencies).includes(name)
    ? `is only among the devDependencies of ${manifest.path}, which are left out where the package is installed`
    : `is not among the dependencies of ${manifest.path}`
  return [['undeclared-package', `The package '${name}' ${place}; run 'npm install --save ${name}'.`]]
}

function installScript(name: string, folder: string): Told[] {
  const culprit = firstWithScript(folder)
  if (!culprit) return []
  const whose = culprit.name === name ? '' : `, by way of '${culprit.name}'`
  const message = `The package '${name}' needs a script (${culprit.script}) when it is installed${whose}. A minion that gets the package from the file server does not run it: use a package without one, or install it on each minion with npm.`
  return [['install-script', message]]
}

interface Culprit {
  readonly name: string
  readonly script: string
}

/** Find a package with an install script among a package and all that it depends on. */
function firstWithScript(folder: string): Culprit | undefined {
  const folders = new Set([folder])
  for (const one of folders) {
    const content = manifestIn(one)?.content ?? {}
    const script = installScriptOf(one, content)
    if (script !== undefined) return { name: String(content.name), script }
    for (const name of [...namesIn(content.dependencies), ...namesIn(content.optionalDependencies)]) {
      const next = packageFolder(name, one)
      if (next !== undefined && folders.size < MAX_PACKAGES) folders.add(next)
    }
  }
  return undefined
}

/** Return what npm runs when it installs a package, by its folder and its package.json; undefined if it runs nothing. */
export function installScriptOf(folder: string, { scripts, gypfile }: Fields): string | undefined {
  const named = ['preinstall', 'install', 'postinstall'].find((script) => namesIn(scripts).includes(script))
  const isBuilt = gypfile === true || (gypfile !== false && existsSync(path.join(folder, 'binding.gyp')))
  return named ?? (isBuilt ? 'node-gyp' : undefined)
}

const namesIn = (value: unknown): string[] => (isRecord(value) ? Object.keys(value) : [])

function foldersAbove(folder: string): string[] {
  const above = path.dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersAbove(above)]
}

/** Find the folder of an installed package as Node does. */
const packageFolder = (name: string, from: string): string | undefined =>
  foldersAbove(from)
    .map((folder) => path.join(folder, 'node_modules', name))
    .find((folder) => existsSync(folder))

/** Find the `package.json` that an author has; a file without a name only says how its files are read. */
const nearestManifest = (from: string): Manifest | undefined =>
  foldersAbove(from)
    .map(manifestIn)
    .find((manifest) => manifest !== undefined && typeof manifest.content.name === 'string')

function manifestIn(folder: string): Manifest | undefined {
  const file = path.join(folder, 'package.json')
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isRecord(content) ? { path: file, content } : undefined
  } catch {
    return undefined // there is none, or npm will complain about it
  }
}
