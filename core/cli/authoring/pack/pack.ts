/** Makes the npm package with which minions and masters get extensions. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { messageOf, SaltError } from '../../../base/errors.ts'
import { json, type PackageManifest, readManifest } from '../package-manifest.ts'
import { isTestFile } from '../run-tests.ts'
import { hasTypes, missingForTypes, TYPES, writeDeclarations } from './declarations.ts'
import { dependencyProblems } from './dependencies.ts'
import { additionsTo, leftOut, problemsIn, remarksOn, sectionOf } from './manifest.ts'
import { listPacked, packTo } from './npm.ts'
import { secretsIn } from './secrets.ts'

export interface Packing {
  readonly folder: string
  /** Folder of the tarball. */
  readonly out: string
  /** Whether to write to package.json what it lacks. */
  readonly fix: boolean
}

export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string
  readonly notes: readonly string[]
}

/** Generated files that are of use to the author only. */
const GENERATED = /(^|\/)(_catalogue|fleet-functions)\.d\.ts$/

/**
 * Make a package of a folder of extensions. Its TypeScript stays as it is: minions load it, also from `node_modules`. Rejects with
 * all problems at once. Only `package.json` (with `fix`) and the catalogue of the modules are written in the folder.
 */
export async function pack({ folder, out, fix }: Packing): Promise<Packed> {
  const { manifest, added } = await checkedManifest(folder, fix)
  const packed = await listPacked(folder)
  refuse(folder, [
    ...(await leftOut(folder, manifest, packed)),
    ...(await secretsIn(folder, packed)),
    ...(await dependencyProblems(folder, manifest)),
  ])
  await makeFolder(out)
  const stage = await mkdtemp(path.join(tmpdir(), 'salt-ts-pack-'))
  try {
    for (const file of packed) if (isFor(file)) await cp(path.join(folder, file), path.join(stage, file))
    const typed = await addTypes(folder, manifest, stage)
    await writeFile(path.join(stage, 'package.json'), json(typed.manifest))
    const tarball = path.join(out, await packTo(stage, out))
    return { tarball, notes: [...added, ...(await remarksOn(folder, manifest)), ...typed.notes] }
  } finally {
    await rm(stage, { recursive: true })
  }
}

async function makeFolder(out: string): Promise<void> {
  await mkdir(out, { recursive: true }).catch((error: unknown) => {
    throw new SaltError('OUTPUT_FAILED', `The folder ${out} cannot be made: ${messageOf(error)}`, { out })
  })
}

const isFor = (file: string) => file !== 'package.json' && !isTestFile(file) && !GENERATED.test(file)

async function checkedManifest(
  folder: string,
  fix: boolean,
): Promise<{ manifest: PackageManifest; added: string[] }> {
  const file = path.join(folder, 'package.json')
  const manifest = await readManifest(file)
  const additions = await additionsTo(folder, manifest)
  const problems = await problemsIn(folder, manifest)
  if (!fix && additions.length > 0)
    problems.push(
      ...additions.map(({ member, value, why }) => `It lacks "${member}": ${JSON.stringify(value)}; ${why}.`),
      'salt-ts pack --fix writes these.',
    )
  refuse(folder, problems)
  const added = Object.fromEntries(additions.map(({ member, value }) => [member, value]))
  const complete = { ...manifest, ...added }
  if (additions.length === 0) return { manifest, added: [] }
  await writeFile(file, json(complete))
  return { manifest: complete, added: [`set in ${file}: ${Object.keys(added).join(', ')}`] }
}

function refuse(folder: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  const lines = [`${path.join(folder, 'package.json')} cannot be packed:`, ...problems]
  throw new SaltError('INVOCATION', lines.join('\n  '), { folder })
}

/** Add declarations of the modules to a package, unless its author has written others. */
async function addTypes(
  folder: string,
  manifest: PackageManifest,
  stage: string,
): Promise<{ manifest: PackageManifest; notes: string[] }> {
  const { modules } = sectionOf(manifest)
  if (modules === undefined || 'types' in manifest || !(await hasTypes(path.join(folder, modules))))
    return { manifest, notes: [] }
  const missing = missingForTypes(folder)
  if (missing !== undefined)
    return { manifest, notes: [`the package has no types for call(), which need ${missing}`] }
  const types = await writeDeclarations(folder, modules, stage)
  const files = [...(manifest.files as readonly unknown[]), TYPES, `!${TYPES}/**/*.test.d.ts`]
  return { manifest: { ...manifest, types, files }, notes: [] }
}
