/** Files around extensions: the npm manifest, and the settings of TypeScript. */
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { messageOf, SaltError } from '../../base/errors.ts'
import { version } from '../program/version.ts'

interface NewFile {
  readonly path: string
  readonly text: string
}

/** Return the missing files, and notes about the existing ones. */
export async function projectFiles(directory: string): Promise<{ files: NewFile[]; notes: string[] }> {
  const tsconfig = path.join(directory, 'tsconfig.json')
  const manifest = await nearestManifest(directory)
  const isThere = await stat(tsconfig).catch(() => undefined)
  return {
    files: [
      ...(isThere ? [] : [{ path: tsconfig, text: json(compilerSettings) }]),
      ...(manifest
        ? []
        : [{ path: path.join(directory, 'package.json'), text: json(newManifest(directory)) }]),
    ],
    notes: manifest ? await remarks(manifest) : [],
  }
}

/** TypeScript settings under which a file is checked as salt-ts runs it. */
const compilerSettings = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
}

function newManifest(directory: string): object {
  return {
    name:
      path
        .basename(directory)
        .toLowerCase()
        .replace(/[^a-z0-9._-]+|^[._]+/g, '-') || 'extensions',
    version: '0.0.0',
    private: true,
    type: 'module',
    imports: { '#utils/*': './utils/*' },
    scripts: { test: 'salt-ts test', check: 'tsc' },
    devDependencies: { 'salt-ts': `^${version()}`, typescript: '>=5.8', '@types/node': '>=20' },
  }
}

/** Return the path of the nearest package.json, if its package is an ES module. */
async function nearestManifest(directory: string): Promise<string | undefined> {
  const file = path.join(directory, 'package.json')
  if (await stat(file).catch(() => undefined)) return file
  const above = path.dirname(directory)
  if (above === directory) return undefined
  const found = await nearestManifest(above)
  return found && (await isModule(found)) ? found : undefined
}

const isModule = async (manifest: string) => (await readManifest(manifest)).type === 'module'

async function remarks(manifest: string): Promise<string[]> {
  const { type, dependencies = {}, devDependencies = {} } = await readManifest(manifest)
  const missing = ['salt-ts', 'typescript', '@types/node'].filter(
    (name) => !Object.hasOwn({ ...dependencies, ...devDependencies }, name),
  )
  return [
    ...(type === 'module'
      ? []
      : [`${manifest} should say "type": "module", or TypeScript takes the file for CommonJS.`]),
    ...(missing.length > 0 ? [`for npm and your editor: npm install --save-dev ${missing.join(' ')}`] : []),
  ]
}

interface Manifest {
  readonly type?: unknown
  readonly dependencies?: object
  readonly devDependencies?: object
}

async function readManifest(file: string): Promise<Manifest> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Manifest
  } catch (error) {
    throw new SaltError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(error)}`, { file })
  }
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`
