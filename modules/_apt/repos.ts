import { isAbsolute, join } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { installKey, type KeySource } from './keys.ts'
import {
  formatSource,
  optionsOf,
  parseSource,
  type Repo,
  readLines,
  repoOf,
  type Source,
  type SourceLine,
  type SourcePaths,
  sourcePaths,
  writeLines,
} from './sources.ts'
import { fieldsOf, isolated, readStanzas, reposOf, stanzaOf, withFields, writeStanzas } from './stanzas.ts'

/** What to change of a repository. */
export interface RepoChanges extends KeySource {
  readonly architectures?: string | undefined
  readonly comps?: string | undefined
  readonly comments?: string | readonly string[] | undefined
  readonly file?: string | undefined
  readonly disabled?: boolean | undefined
  readonly enabled?: boolean | undefined
}

/** List the repositories of all files. */
export async function listRepos(context: Context): Promise<Repo[]> {
  const paths = await sourcePaths(context)
  const lines = (await readLines(paths)).flatMap(({ file, text, source }) =>
    source ? [repoOf(file, text.trim(), source)] : [],
  )
  return [...lines, ...(await readStanzas(paths)).flatMap(reposOf)]
}

/**
 * Find a repository by its whole definition: the first with its type, URI and suite, and one of its components. What is no
 * definition is not found.
 */
export async function findRepo(definition: string, context: Context): Promise<Repo | object> {
  const wanted = sourceIn(definition, context)
  if (!wanted) return {}
  const repos = await listRepos(context)
  return repos.find((repo) => isSame(repo, wanted) && sharesComponent(repo.comps, wanted.comps)) ?? {}
}

/** Remove a repository from the files it is in. Returns Salt's sentences. */
export async function deleteRepo(definition: string, context: Context): Promise<string> {
  const wanted = sourceIn(definition, context)
  const paths = await sourcePaths(context)
  const files = wanted ? [...(await deleteLines(wanted, paths)), ...(await deleteStanzas(wanted, paths))] : []
  if (files.length === 0)
    throw new CommandExecutionError(`Repo ${definition} doesn't exist in the sources.list(s)`)
  return files
    .map(({ file, isRemoved }) =>
      isRemoved
        ? `File ${file} containing repo '${definition}' has been removed.`
        : `Repo '${definition}' has been removed from ${file}.\n`,
    )
    .join('')
}

interface Changed {
  readonly file: string
  readonly isRemoved: boolean
}

const changedFiles = (files: Iterable<string>, removed: readonly string[]): Changed[] =>
  [...files].map((file) => ({ file, isRemoved: removed.includes(file) }))

async function deleteLines(wanted: Source, paths: SourcePaths): Promise<Changed[]> {
  const lines = await readLines(paths)
  const changed = new Set<string>()
  const kept = lines.flatMap((line) => {
    if (!line.source || !isDeleted(repoOf(line.file, line.text, line.source), wanted)) return [line]
    changed.add(line.file)
    const comps = remaining(line.source.comps, wanted)
    return comps.length > 0 ? [lineOf(line.file, { ...line.source, comps })] : []
  })
  return changedFiles(changed, await writeLines(changed, withoutEmptyFiles(kept, changed), paths))
}

async function deleteStanzas(wanted: Source, paths: SourcePaths): Promise<Changed[]> {
  const changed = new Set<string>()
  const kept = (await readStanzas(paths)).flatMap((stanza) => {
    const repo = reposOf(stanza).find((one) => isDeleted(one, wanted))
    if (!repo) return [stanza]
    changed.add(stanza.file)
    const { own, rest } = isolated(stanza, repo)
    const comps = remaining(repo.comps, wanted)
    return comps.length > 0 ? [withFields(own, { Components: comps.join(' ') }), ...rest] : rest
  })
  return changedFiles(changed, await writeStanzas(changed, kept))
}

const remaining = (comps: readonly string[], wanted: Source): string[] =>
  comps.filter((comp) => !wanted.comps.includes(comp))

/** Change a repository, or add it. Returns its definition → what it is now. */
export async function changeRepo(
  definition: string,
  changes: RepoChanges,
  context: Context,
): Promise<Record<string, Omit<Repo, 'dist'>>> {
  refuseLines({ ...changes, key_text: undefined })
  const wanted = definitionOf(definition, context)
  const paths = await sourcePaths(context)
  const { signedby } = optionsOf(wanted)
  await installKey(changes, signedby, context)
  const { dist: _, ...repo } =
    (await changeStanza(wanted, changes, paths)) ?? (await changeLine(definition, wanted, changes, paths))
  return { [definition]: repo }
}

async function changeLine(
  definition: string,
  wanted: Source,
  changes: RepoChanges,
  paths: SourcePaths,
): Promise<Repo> {
  const lines = await readLines(paths)
  const at = lines.findIndex(
    ({ file, text, source }) =>
      source !== undefined && isChanged(repoOf(file, text, source), wanted, changes),
  )
  const found = lines[at]
  const file = fileFor(changes.file ?? found?.file, paths)
  const changed = lineOf(file, changedSource(wanted, found?.source, changes))
  const rest = lines.filter((_, index) => index !== at)
  const position = found?.file === file ? at : rest.length
  const now = rest.toSpliced(position, 0, changed)
  await writeLines(new Set([file, ...(found ? [found.file] : [])]), now, paths)
  // Salt shows the line that was asked for, unless it had to write another address.
  const line = found?.source && found.source.uri !== wanted.uri ? changed.text : definition
  return repoOf(file, `${line}\n`, changed.source)
}

/** Change a repository that a stanza has, or add it to a file of stanzas. Undefined if it is a matter of lines. */
async function changeStanza(
  wanted: Source,
  changes: RepoChanges,
  paths: SourcePaths,
): Promise<Repo | undefined> {
  const stanzas = await readStanzas(paths)
  const repos = stanzas.map((stanza) => reposOf(stanza).find((one) => isChanged(one, wanted, changes)))
  const at = repos.findIndex((repo) => repo !== undefined)
  const file = changes.file === undefined ? stanzas[at]?.file : fileFor(changes.file, paths)
  if (!file?.endsWith('.sources') || (at < 0 && (await hasLine(wanted, changes, paths)))) return undefined
  const [stanza, repo] = [stanzas[at], repos[at]]
  if (!stanza || !repo) {
    const added = stanzaOf(file, changedSource(wanted, undefined, changes))
    await writeStanzas([file], [...stanzas, added])
    return reposOf(added)[0]
  }
  const { own, rest } = isolated(stanza, repo)
  const source = changedSource(wanted, { ...wanted, disabled: repo.disabled }, changes)
  const changed = { ...withFields(own, fieldsOf(source)), file }
  await writeStanzas(new Set([stanza.file, file]), stanzas.toSpliced(at, 1, changed, ...rest))
  return reposOf(changed)[0]
}

const hasLine = async (wanted: Source, changes: RepoChanges, paths: SourcePaths): Promise<boolean> =>
  (await readLines(paths)).some(
    ({ file, text, source }) =>
      source !== undefined && isChanged(repoOf(file, text, source), wanted, changes),
  )

/** Refuse values that would be further lines of a file of sources. */
function refuseLines(changes: object): void {
  for (const [name, value] of Object.entries(changes))
    if (/[\r\n]/.test([value].flat().join()))
      throw new SaltInvocationError(`${name} must not have a line break`)
}

function definitionOf(definition: string, context: Context): Source {
  const source = sourceIn(definition, context)
  if (source) return source
  throw new SaltInvocationError(
    `Name ${definition} is not valid. This must be the complete repo entry as seen in the sources file`,
  )
}

/** Parse a definition; undefined if it is none. */
function sourceIn(definition: string, { grains }: Context): Source | undefined {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(definition) ?? []
  const isUbuntu = ['Ubuntu', 'Mint', 'neon'].includes(String(grains.os))
  if (definition.startsWith('ppa:') && !isUbuntu) {
    throw new CommandExecutionError(`cannot parse "ppa:" style repo definitions: ${definition}`)
  }
  const text = owner
    ? `deb https://ppa.launchpadcontent.net/${owner}/${name}/ubuntu ${grains.oscodename} main`
    : definition
  return parseSource(text)
}

const bare = (uri: string): string => uri.replace(/\/+$/, '')

const isSame = (one: Pick<Source, 'type' | 'uri' | 'dist'>, other: Source): boolean =>
  one.type === other.type && bare(one.uri) === bare(other.uri) && one.dist === other.dist

const sharesComponent = (comps: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length === 0 || wanted.some((comp) => comps.includes(comp))

const isDeleted = (repo: Repo, wanted: Source): boolean =>
  isSame(repo, wanted) &&
  repo.architectures.join() === optionsOf(wanted).architectures.join() &&
  (repo.comps.length === 0
    ? wanted.comps.length === 0
    : wanted.comps.some((comp) => repo.comps.includes(comp)))

function isChanged(repo: Repo, wanted: Source, { comps, architectures }: RepoChanges): boolean {
  if (!isSame(repo, wanted)) return false
  const all = [...wanted.comps, ...listOf(comps)]
  const given = architectures === undefined ? optionsOf(wanted).architectures : listOf(architectures)
  return (
    repo.comps.length === 0 ||
    all.some((comp) => repo.comps.includes(comp)) ||
    given.join() !== repo.architectures.join()
  )
}

function changedSource(wanted: Source, found: Source | undefined, changes: RepoChanges): Source {
  const { architectures, comps, comments, disabled, enabled } = changes
  return {
    ...wanted,
    options: architectures === undefined ? wanted.options : withArchitectures(wanted.options, architectures),
    comps: comps === undefined ? wanted.comps : listOf(comps),
    disabled: disabled ?? (enabled === undefined ? (found?.disabled ?? wanted.disabled) : !enabled),
    comment: comments === undefined ? (found?.comment ?? wanted.comment) : [comments].flat().join(' '),
  }
}

const withArchitectures = (options: readonly string[], architectures: string): string[] => [
  `arch=${listOf(architectures).join(',')}`,
  ...options.filter((option) => !option.startsWith('arch=')),
]

const listOf = (given = ''): string[] =>
  given
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

function fileFor(file: string | undefined, { list, parts }: SourcePaths): string {
  if (file === undefined) return list
  const path = isAbsolute(file) ? file : join(parts, file)
  if (/\.(list|sources)$/.test(path)) return path
  throw new SaltInvocationError(
    `apt does not read the file ${path}: its name has to end with .list, or .sources for the deb822 format`,
  )
}

const lineOf = (file: string, source: Source): SourceLine & { source: Source } => ({
  file,
  text: formatSource(source),
  source,
})

// A file of the folder of parts that defines nothing any more is removed, with its comments.
function withoutEmptyFiles(lines: readonly SourceLine[], changed: ReadonlySet<string>): SourceLine[] {
  const used = new Set(lines.filter(({ source }) => source).map(({ file }) => file))
  return lines.filter(({ file }) => used.has(file) || !changed.has(file) || file.endsWith('/sources.list'))
}
