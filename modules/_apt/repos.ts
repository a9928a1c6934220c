import { isAbsolute, join } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { installKey, type KeySource } from './keys.ts'
import {
  formatSource,
  listRepos,
  listStanzas,
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

/** What to change of a repository. */
export interface RepoChanges extends KeySource {
  readonly architectures?: string | undefined
  readonly comps?: string | undefined
  readonly comments?: string | readonly string[] | undefined
  readonly file?: string | undefined
  readonly disabled?: boolean | undefined
  readonly enabled?: boolean | undefined
}

/** Find a repository by its whole definition: the first with its type, URI and suite, and one of its components. */
export async function findRepo(definition: string, context: Context): Promise<Repo | object> {
  const wanted = definitionOf(definition, context)
  const repos = await listRepos(context)
  return repos.find((repo) => isSame(repo, wanted) && sharesComponent(repo.comps, wanted.comps)) ?? {}
}

/** Remove a repository from the files it is in. Returns Salt's sentences. */
export async function deleteRepo(definition: string, context: Context): Promise<string> {
  const wanted = definitionOf(definition, context)
  const paths = await sourcePaths(context)
  const lines = await readLines(paths)
  const changed = new Set<string>()
  const kept = lines.flatMap((line) => {
    if (!line.source || !isDeleted(line.source, wanted)) return [line]
    changed.add(line.file)
    const comps = line.source.comps.filter((comp) => !wanted.comps.includes(comp))
    return comps.length > 0 ? [lineOf(line.file, { ...line.source, comps })] : []
  })
  if (changed.size === 0) await refuseStanza(wanted, paths)
  if (changed.size === 0)
    throw new CommandExecutionError(`Repo ${definition} doesn't exist in the sources.list(s)`)
  const removed = await writeLines(changed, withoutEmptyFiles(kept, changed), paths)
  return [...changed]
    .map((file) =>
      removed.includes(file)
        ? `File ${file} containing repo '${definition}' has been removed.`
        : `Repo '${definition}' has been removed from ${file}.\n`,
    )
    .join('')
}

/** Change a repository, or add it. Returns its definition → what it is now. */
export async function changeRepo(
  definition: string,
  changes: RepoChanges,
  context: Context,
): Promise<Record<string, Omit<Repo, 'dist'>>> {
  const wanted = definitionOf(definition, context)
  const paths = await sourcePaths(context)
  const { signedby } = optionsOf(wanted)
  await installKey(changes, signedby, context)
  const lines = await readLines(paths)
  const at = lines.findIndex(({ source }) => source !== undefined && isChanged(source, wanted, changes))
  const found = lines[at]
  if (!found) await refuseStanza(wanted, paths)
  const file = fileFor(changes.file ?? found?.file, paths)
  const changed = lineOf(file, changedSource(wanted, found?.source, changes))
  const rest = lines.filter((_, index) => index !== at)
  const position = found?.file === file ? at : rest.length
  const now = rest.toSpliced(position, 0, changed)
  await writeLines(new Set([file, ...(found ? [found.file] : [])]), now, paths)
  const { dist: _, ...repo } = repoOf(file, `${changed.text}\n`, changed.source)
  return { [definition]: repo }
}

function definitionOf(definition: string, { grains }: Context): Source {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(definition) ?? []
  const isUbuntu = ['Ubuntu', 'Mint', 'neon'].includes(String(grains.os))
  if (definition.startsWith('ppa:') && !isUbuntu) {
    throw new CommandExecutionError(`cannot parse "ppa:" style repo definitions: ${definition}`)
  }
  const text = owner
    ? `deb https://ppa.launchpadcontent.net/${owner}/${name}/ubuntu ${grains.oscodename} main`
    : definition
  const source = parseSource(text)
  if (source) return source
  throw new SaltInvocationError(
    `Name ${definition} is not valid. This must be the complete repo entry as seen in the sources file`,
  )
}

const bare = (uri: string): string => uri.replace(/\/+$/, '')

const isSame = (one: Pick<Source, 'type' | 'uri' | 'dist'>, other: Source): boolean =>
  one.type === other.type && bare(one.uri) === bare(other.uri) && one.dist === other.dist

const sharesComponent = (comps: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length === 0 || wanted.some((comp) => comps.includes(comp))

const isDeleted = (source: Source, wanted: Source): boolean =>
  isSame(source, wanted) &&
  optionsOf(source).architectures.join() === optionsOf(wanted).architectures.join() &&
  (source.comps.length === 0
    ? wanted.comps.length === 0
    : wanted.comps.some((comp) => source.comps.includes(comp)))

function isChanged(source: Source, wanted: Source, { comps, architectures }: RepoChanges): boolean {
  if (!isSame(source, wanted)) return false
  const all = [...wanted.comps, ...listOf(comps)]
  const given = architectures === undefined ? optionsOf(wanted).architectures : listOf(architectures)
  return (
    source.comps.length === 0 ||
    all.some((comp) => source.comps.includes(comp)) ||
    given.join() !== optionsOf(source).architectures.join()
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
  if (path.endsWith('.list')) return path
  throw new SaltInvocationError(`apt does not read the file ${path}: its name has to end with .list`)
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

async function refuseStanza(wanted: Source, paths: SourcePaths): Promise<void> {
  const repo = (await listStanzas(paths)).find((one) => isSame(one, wanted))
  if (!repo) return
  throw new CommandExecutionError(
    `The repository is defined in ${repo.file}, in the deb822 format, which this function does not change; edit or remove that file instead`,
  )
}
