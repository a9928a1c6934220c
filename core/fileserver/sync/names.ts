/** What Python minions load; these leave it to them, as those do with everything else. */
const PYTHON = /\.(?:py[cox]?|so|zip)$|(?:^|\/)__pycache__\//
/** What package managers put there for the shell. */
const TOOLS = /(?:^|\/)node_modules\/\.bin\//
const PACKAGES = 'node_modules/'

/** Whether a file of an extensions folder, by its path in there, is brought to this host. */
export function isOurs(path: string): boolean {
  const isPython = PYTHON.test(path) && !path.includes(PACKAGES)
  return !isPython && !TOOLS.test(path) && !path.split('/').some((name) => name.startsWith('.tmp-'))
}

/**
 * What people know a file by: `sub.helper` for `sub/helper.ts`. Everything of an npm package goes by its name, as in
 * `node_modules.left-pad`.
 */
export function nameOf(path: string): string {
  const packages = path.indexOf(PACKAGES)
  if (packages >= 0) {
    const [scope = '', name] = path.slice(packages + PACKAGES.length).split('/')
    return `${path.slice(0, packages).replaceAll('/', '.')}node_modules.${scope.startsWith('@') ? `${scope}/${name}` : scope}`
  }
  return path.replace(/(?<=[^/])\.(?:d\.)?[^./]+$/, '').replaceAll('/', '.')
}

/** The module a file is, or belongs to, which may be listed by `extmod_whitelist`; undefined for what serves them all. */
export function moduleOf(path: string): string | undefined {
  const [first = ''] = path.split('/')
  if (first.startsWith('_') || first === 'node_modules' || first === 'package.json') return undefined
  return nameOf(path)
}
