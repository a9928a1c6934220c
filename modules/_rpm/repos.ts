import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { listed } from '../_pkg/names.ts'
import { enableCopr } from './copr.ts'
import { parseRepoFile, type RepoFile, readRepoFile, type Section, writeRepoFile } from './repo-file.ts'

/** In which folders the files of repositories are, and how they are read. */
export interface RepoFiles {
  readonly basedir?: unknown
  readonly strict_config?: boolean
}

const CONFIGS = ['/etc/yum/yum.conf', '/etc/yum.conf', '/etc/dnf/dnf.conf', '/etc/tdnf/tdnf.conf']
const USUAL = ['/etc/yum/repos.d', '/etc/yum.repos.d']

/** Return the folders: those that are given, or of `reposdir` in the configuration of dnf or yum. */
async function foldersOf({ basedir, strict_config = true }: RepoFiles): Promise<string[]> {
  const given = listed(basedir)
  if (given.length > 0) return given
  for (const path of CONFIGS) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const { reposdir } = parseRepoFile(text, path, strict_config).sections.main ?? {}
    return typeof reposdir === 'string' ? listed(reposdir) : USUAL
  }
  throw new CommandExecutionError(`No suitable yum config file found in: ${CONFIGS.join(', ')}`)
}

/** List the repositories by name, each with the `file` it is in. */
export async function listRepos(files: RepoFiles, context: Context): Promise<Record<string, Section>> {
  return reposIn(await foldersOf(files), files, context)
}

async function reposIn(
  folders: readonly string[],
  { strict_config = true }: RepoFiles,
  { log }: Context,
): Promise<Record<string, Section>> {
  const repos: Record<string, Section> = {}
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => [])
    log.debug(`Searching for repositories in ${folder}`)
    for (const file of names.filter((name) => name.endsWith('.repo')).map((name) => join(folder, name))) {
      const { sections } = await readRepoFile(file, strict_config)
      for (const [name, section] of Object.entries(sections)) repos[name] = { ...section, file }
    }
  }
  return repos
}

/** Return a repository, or {}. */
export async function findRepo(repo: string, files: RepoFiles, context: Context): Promise<Section> {
  const { file: _, ...section } = (await listRepos(files, context))[coprName(repo)] ?? {}
  return section
}

/** Remove a repository from its file, or the file if it has no other. Returns Salt's sentence. */
export async function deleteRepo(given: string, files: RepoFiles, context: Context): Promise<string> {
  const repo = coprName(given)
  const folders = await foldersOf(files)
  const file = (await reposIn(folders, files, context))[repo]?.file as string | undefined
  if (file === undefined)
    return `Error: the ${repo} repo does not exist in [${folders.map((name) => `'${name}'`).join(', ')}]`
  const { header, sections } = await readRepoFile(file, files.strict_config ?? true)
  delete sections[repo]
  if (Object.keys(sections).length === 0) {
    await rm(file)
    return `File ${file} containing repo ${repo} has been removed`
  }
  await writeRepoFile(file, { header, sections })
  return `Repo ${repo} has been removed from ${file}`
}

/** Change the options of a repository, or add it. Returns the file → what it has now. */
export async function changeRepo(
  given: string,
  options: Section,
  files: RepoFiles,
  context: Context,
): Promise<Record<string, Record<string, Section>>> {
  const repo = checkedRepo(coprName(given))
  const { set, unset } = sortOptions(options)
  const folders = await foldersOf(files)
  const { file, content } = await fileFor(given, repo, set, folders, files, context)
  const section = content.sections[repo]!
  for (const [gone, other] of OTHER_URL)
    if (unset.includes(gone) && !Object.hasOwn(set, other) && !Object.hasOwn(section, other))
      throw new SaltInvocationError(`Cannot delete ${gone} without specifying ${other}`)
  for (const key of unset) delete section[key]
  Object.assign(section, set)
  await writeRepoFile(file, content)
  return { [file]: withoutComments(content.sections) }
}

const OTHER_URL = [
  ['baseurl', 'mirrorlist'],
  ['mirrorlist', 'baseurl'],
] as const

// An option without a value is removed. Only one of the two ways to name the place of a repository is kept.
function sortOptions(options: Section): { set: Section; unset: string[] } {
  for (const key of Object.keys(options))
    if (!/^[\w.-]+$/.test(key))
      throw new SaltInvocationError(`${JSON.stringify(key)} is no name of an option of a repository`)
  const isUnset = (value: unknown) =>
    value !== 0 && value !== false && (!value || (Array.isArray(value) && value.length === 0))
  const entries = Object.entries(options)
  const set = Object.fromEntries(entries.filter(([, value]) => !isUnset(value)))
  const unset = entries.filter(([, value]) => isUnset(value)).map(([key]) => key)
  if (Object.hasOwn(set, 'mirrorlist') && Object.hasOwn(set, 'baseurl'))
    throw new SaltInvocationError("Only one of 'mirrorlist' and 'baseurl' can be specified")
  for (const [gone, other] of OTHER_URL) if (Object.hasOwn(set, other)) unset.push(gone)
  if (unset.includes('name')) throw new SaltInvocationError('The repo name cannot be deleted')
  return { set, unset }
}

async function fileFor(
  given: string,
  repo: string,
  set: Section,
  folders: readonly string[],
  files: RepoFiles,
  context: Context,
): Promise<{ file: string; content: RepoFile }> {
  const known = async () => (await reposIn(folders, files, context))[repo]?.file as string | undefined
  const read = async (file: string) => ({
    file,
    content: await readRepoFile(file, files.strict_config ?? true),
  })
  const existing = await known()
  if (existing !== undefined) return read(existing)
  const folder = await firstFolder(folders)
  if (given.startsWith('copr:')) {
    await enableCopr(given.slice('copr:'.length), context)
    const enabled = await known()
    if (enabled !== undefined) return read(enabled)
    throw new CommandExecutionError(`${given} was enabled, but its repository ${repo} is in no file`)
  }
  const missing = 'The repo does not exist and needs to be created, but'
  if (!Object.hasOwn(set, 'name')) throw new SaltInvocationError(`${missing} a name was not given`)
  if (!Object.hasOwn(set, 'baseurl') && !Object.hasOwn(set, 'mirrorlist'))
    throw new SaltInvocationError(`${missing} either a baseurl or a mirrorlist needs to be given`)
  const file = join(folder, `${repo}.repo`)
  return (await isFile(file))
    ? readThenAdd(file, repo, files)
    : { file, content: { header: '', sections: { [repo]: {} } } }
}

// A file of that name with other repositories keeps them.
async function readThenAdd(file: string, repo: string, files: RepoFiles) {
  const { header, sections } = await readRepoFile(file, files.strict_config ?? true)
  return { file, content: { header, sections: { ...sections, [repo]: {} } } }
}

async function firstFolder(folders: readonly string[]): Promise<string> {
  for (const folder of folders) if (await stat(folder).catch(() => undefined)) return folder
  throw new SaltInvocationError(
    `The repo does not exist and needs to be created, but none of the following basedir directories exist: [${folders.map((name) => `'${name}'`).join(', ')}]`,
  )
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

const withoutComments = (sections: Record<string, Section>): Record<string, Section> =>
  Object.fromEntries(Object.entries(sections).map(([name, { comments: _, ...rest }]) => [name, rest]))

function coprName(repo: string): string {
  const [, owner, project] = /^copr:([^/]+)\/(.+)$/.exec(repo) ?? []
  return owner ? `copr:copr.fedorainfracloud.org:${owner}:${project}` : repo
}

// The name becomes that of a file.
function checkedRepo(repo: string): string {
  if (/^[A-Za-z0-9][\w.:-]*$/.test(repo)) return repo
  throw new SaltInvocationError(
    `'${repo}' is no name of a repository: it has to consist of letters, digits, '-', '_', '.' and ':'`,
  )
}
