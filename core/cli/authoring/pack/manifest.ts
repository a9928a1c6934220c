/** What minions and npm need in the package.json of a package of extensions. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { didYouMean } from '../../../base/closest.ts'
import { listFolder } from '../../../loader/files/index-files.ts'
import { kinds } from '../../../loader/kinds.ts'
import { packageRoot } from '../../../process/own-package.ts'
import { memberOf, type PackageManifest, readManifest } from '../package-manifest.ts'

/** A member that can be added without asking, and why it is needed. */
interface Addition {
  readonly member: string
  readonly value: unknown
  readonly why: string
}

/** The folders that hold extensions, by the keys they have in the section `salt-ts`. */
type Folders = Readonly<Record<string, string>>

const SECTION = 'salt-ts'
const folderKeys = [...kinds.values()].flatMap(({ folders }) => folders)

/** Return the folders that the section names. */
export const sectionOf = (manifest: PackageManifest): Folders => memberOf(manifest, SECTION) as Folders

/** List the members that are missing, or have to be changed. */
export async function additionsTo(folder: string, manifest: PackageManifest): Promise<Addition[]> {
  const present = await presentFolders(folder)
  const { engines } = await readManifest(path.join(packageRoot, 'package.json'))
  const additions = [
    typeOf(manifest),
    enginesOf(manifest, engines as object),
    importsOf(manifest, present),
    sectionFor(manifest, present),
    filesOf(manifest, present),
  ]
  return additions.filter((addition) => addition !== undefined)
}

type MayLack = Addition | undefined

const typeOf = ({ type }: PackageManifest): MayLack =>
  type === 'module'
    ? undefined
    : { member: 'type', value: 'module', why: 'Node takes the files for CommonJS otherwise' }

function enginesOf(manifest: PackageManifest, engines: object): MayLack {
  const own = memberOf(manifest, 'engines')
  if ('node' in own) return undefined
  return { member: 'engines', value: { ...own, ...engines }, why: 'npm warns on hosts with an older Node' }
}

function importsOf(manifest: PackageManifest, { utils }: Folders): MayLack {
  const own = memberOf(manifest, 'imports')
  if (utils === undefined || '#utils/*' in own) return undefined
  const value = { ...own, '#utils/*': `${utils}/*` }
  return { member: 'imports', value, why: 'the files find #utils/… by it' }
}

/** Helpers that only the package itself uses need no entry. */
function sectionFor(manifest: PackageManifest, { utils, ...others }: Folders): MayLack {
  const value = Object.keys(others).length > 0 ? others : { utils }
  if (SECTION in manifest || (utils === undefined && value !== others)) return undefined
  return { member: SECTION, value, why: 'minions find the extensions by it' }
}

function filesOf(manifest: PackageManifest, present: Folders): MayLack {
  if (Array.isArray(manifest.files)) return undefined
  const folders = [...Object.values(sectionOf(manifest)), ...Object.values(present)].filter(isText)
  const value = [...new Set(folders.map((name) => path.normalize(name))), '!**/*.test.ts']
  return { member: 'files', value, why: 'npm packs everything otherwise' }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Return the folders of extensions that are there: `modules` → `./modules`. */
async function presentFolders(folder: string): Promise<Folders> {
  const found: Record<string, string> = {}
  for (const key of folderKeys)
    for (const name of [`_${key}`, key])
      if (listFolder(path.join(folder, name)).length > 0) found[key] = `./${name}`
  return found
}

/** Return a sentence for each problem that only the author can solve. */
export async function problemsIn(folder: string, manifest: PackageManifest): Promise<string[]> {
  const texts = { name: 'salt-ts-shop', version: '1.0.0' }
  const missing = Object.entries(texts)
    .filter(([member]) => typeof manifest[member] !== 'string' || manifest[member] === '')
    .map(([member, example]) => `It lacks "${member}": run npm pkg set ${member}=${example}.`)
  if (!(SECTION in manifest)) {
    const isEmpty = Object.keys(await presentFolders(folder)).length === 0
    return isEmpty ? [...missing, `There are no extensions: no files in ${folderKeys.join(', ')}.`] : missing
  }
  const entries = Object.entries(sectionOf(manifest))
  if (entries.length === 0) missing.push(`"${SECTION}" names no folder, as { "modules": "./modules" } does.`)
  const wrong = await Promise.all(entries.map(([key, name]) => problemOf(folder, key, name)))
  return [...missing, ...wrong.flat()]
}

async function problemOf(folder: string, key: string, name: unknown): Promise<string[]> {
  const place = `"${SECTION}": { "${key}": ${JSON.stringify(name)} }`
  if (!folderKeys.includes(key))
    return [`${place}: there is no kind '${key}' of extensions.${didYouMean(key, folderKeys)}`]
  if (typeof name !== 'string' || path.isAbsolute(name) || path.normalize(name).startsWith('..'))
    return [`${place} does not name a folder of the package.`]
  if (!(await stat(path.join(folder, name)).catch(() => undefined))?.isDirectory())
    return [`${place}: there is no such folder.`]
  return listFolder(path.join(folder, name)).length > 0 ? [] : [`${place}: the folder has no extensions.`]
}

/** Return a sentence for each folder of which npm packs nothing. */
export async function leftOut(
  folder: string,
  manifest: PackageManifest,
  packed: readonly string[],
): Promise<string[]> {
  const { utils } = await presentFolders(folder)
  const needed = new Set([...Object.values(sectionOf(manifest)), ...(utils === undefined ? [] : [utils])])
  return [...needed]
    .filter((name) => !packed.some((file) => !path.relative(name, file).startsWith('..')))
    .map((name) => `npm packs nothing of ${name}: add it to "files".`)
}

/** Return remarks about what an author may not have meant. */
export async function remarksOn(folder: string, manifest: PackageManifest): Promise<string[]> {
  const section = sectionOf(manifest)
  const unnamed = Object.keys(await presentFolders(folder)).filter(
    (key) => key !== 'utils' && !(key in section),
  )
  return [
    ...unnamed.map(
      (key) => `the folder ${key} is not in "${SECTION}" of package.json: minions do not search it.`,
    ),
    ...(/^(@[^/]+\/)?salt-ts-/.test(String(manifest.name))
      ? []
      : [`minions find packages called salt-ts-… by themselves; plugin_packages has to name this one.`]),
    ...(manifest.private === true ? [`"private": true keeps npm publish from publishing it.`] : []),
  ]
}
