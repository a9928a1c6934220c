/** Files that only Python minions load. */
const PYTHON = /\.(?:py[cox]?|so|zip)$|(?:^|\/)__pycache__\//
/** Executables that package managers install. */
const TOOLS = /(?:^|\/)node_modules\/\.bin\//
const PACKAGES = 'node_modules/'

/** Whether a file, by its path in a directory of extensions, is copied to this host. */
export function isSynced(path: string): boolean {
  const isPython = PYTHON.test(path) && !path.includes(PACKAGES)
  return !isPython && !TOOLS.test(path) && !path.split('/').some((name) => name.startsWith('.tmp-'))
}

/**
 * Return the name of a file for users: `sub.helper` for `sub/helper.ts`. All files of an npm package have the name of the package:
 * `node_modules.left-pad`.
 */
export function extensionNameOf(path: string): string {
  const packages = path.indexOf(PACKAGES)
  if (packages >= 0) {
    const [scope = '', name] = path.slice(packages + PACKAGES.length).split('/')
    return `${path.slice(0, packages).replaceAll('/', '.')}node_modules.${scope.startsWith('@') ? `${scope}/${name}` : scope}`
  }
  return path.replace(/(?<=[^/])\.(?:d\.)?[^./]+$/, '').replaceAll('/', '.')
}

/** Return the module that a file belongs to, for `extmod_whitelist`; undefined for a file that all modules share. */
export function moduleNameOf(path: string): string | undefined {
  const [first = ''] = path.split('/')
  if (first.startsWith('_') || first === 'node_modules' || first === 'package.json') return undefined
  return extensionNameOf(path)
}
