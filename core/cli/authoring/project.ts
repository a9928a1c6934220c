/** Files around extensions: the npm manifest, the settings of TypeScript, and the workflow that tests them. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { KindName } from '../../loader/kinds.ts'
import { version } from '../program/version.ts'
import { ciFile } from './ci-file.ts'
import { json, memberOf, type PackageManifest, readManifest } from './package-manifest.ts'

interface NewFile {
  readonly path: string
  readonly text: string
}

/** What a directory needs besides the extension. */
export interface Project {
  /** Those that are missing. */
  readonly files: readonly NewFile[]
  /** Remarks about the existing package.json. */
  readonly notes: readonly string[]
  /** Commands after which TypeScript checks the types. */
  readonly steps: readonly string[]
}

export async function projectOf(directory: string, kind: KindName): Promise<Project> {
  const manifest = await nearestManifest(directory)
  const isProject = manifest === undefined || path.dirname(manifest) === directory
  const tsconfig = path.join(directory, 'tsconfig.json')
  const isSetUp = await stat(tsconfig).catch(() => undefined)
  const workflow = isProject && !isSetUp ? ciFile(directory) : undefined
  const files = [
    ...(isSetUp ? [] : [{ path: tsconfig, text: json(compilerSettings) }]),
    ...(manifest ? [] : [{ path: path.join(directory, 'package.json'), text: json(newManifest(directory)) }]),
    ...(workflow ? [workflow] : []),
  ]
  if (manifest === undefined) return { files, notes: [], steps: [CHECK] }
  const content = await readManifest(manifest)
  return { files, notes: remarks(manifest, content, kind), steps: stepsFor(content) }
}

/** The newest TypeScript with the interface by which `salt-ts check` knows the types of results. */
const TYPESCRIPT = 6

/** Installs typescript and the types of Node, which package.json names, and checks the types. */
const CHECK = 'npm install && npx tsc  # to check the types'

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
    devDependencies: {
      'salt-ts': `^${version()}`,
      typescript: `>=5.8 <${TYPESCRIPT + 1}`,
      '@types/node': '>=20',
    },
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

const remarks = (file: string, manifest: PackageManifest, kind: KindName): string[] =>
  kind !== 'utils' || Object.hasOwn(memberOf(manifest, 'imports'), '#utils/*')
    ? []
    : [`${file} should say "imports": { "#utils/*": "./utils/*" }, for your editor and packages.`]

function stepsFor(manifest: PackageManifest): string[] {
  const known = { ...memberOf(manifest, 'dependencies'), ...memberOf(manifest, 'devDependencies') }
  const missing = ['salt-ts', 'typescript', '@types/node']
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => (name === 'typescript' ? `typescript@${TYPESCRIPT}` : name))
  return [
    ...(manifest.type === 'module'
      ? []
      : ['npm pkg set type=module  # or TypeScript takes the files for CommonJS']),
    missing.length === 0 ? CHECK : CHECK.replace('install', `install --save-dev ${missing.join(' ')}`),
  ]
}
