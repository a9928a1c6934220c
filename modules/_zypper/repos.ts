/** Repositories: read from their files, changed with zypper. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { plainNames } from '../_pkg/names.ts'
import { readRepoFile } from '../_rpm/repo-file.ts'
import { zypper, zypperElements } from './run.ts'

type Root = string | undefined
export type Repo = Record<string, unknown>

/** List the repositories by alias. */
export async function listRepos(root: Root, { log }: Context): Promise<Record<string, Repo>> {
  const folder = join(root ?? '/', 'etc/zypp/repos.d')
  const names = await readdir(folder).catch(() => undefined)
  if (!names) log.warn(`Repositories not found in ${folder}`)
  const repos: Record<string, Repo> = {}
  for (const name of (names ?? []).filter((one) => one.endsWith('.repo'))) {
    const { sections } = await readRepoFile(join(folder, name), false)
    for (const [alias, { comments: _, ...options }] of Object.entries(sections))
      repos[alias] = { ...Object.fromEntries(Object.entries(options).map(shown)), alias }
  }
  return repos
}

const VALUES: Readonly<Record<string, unknown>> = { '0': false, '1': true, NONE: null }

const shown = ([name, value]: [string, unknown]): [string, unknown] => [
  name,
  typeof value === 'string' && Object.hasOwn(VALUES, value) ? VALUES[value] : value,
]

/** Return a repository, or {}. */
export async function repoOf(alias: string, root: Root, context: Context): Promise<Repo> {
  const repos = await listRepos(root, context)
  return Object.hasOwn(repos, alias) ? (repos[alias] as Repo) : {}
}

/** Remove a repository. @throws CommandExecutionError if there is none */
export async function deleteRepo(alias: string, root: Root, context: Context) {
  plainNames([alias])
  if (Object.hasOwn(await listRepos(root, context), alias)) {
    const args = ['rr', '--loose-auth', '--loose-query', alias]
    const message = (await zypperElements('message', args, context, { root })).at(-1)
    if (message) return { [alias]: true, message: message.text }
  }
  throw new CommandExecutionError(`Repository '${alias}' not found.`)
}

/** Change the options of a repository, or add it with a URL. Returns what it has now. */
export async function changeRepo(
  alias: string,
  options: Readonly<Record<string, unknown>>,
  root: Root,
  context: Context,
): Promise<Repo> {
  plainNames([alias])
  const repos = await listRepos(root, context)
  const isNew = !Object.hasOwn(repos, alias)
  if (isNew) await addRepo(alias, options, repos, root, context)
  const known = isNew ? {} : (repos[alias] as Repo)
  if (!isNew && options.baseurl !== undefined && options.baseurl !== known.baseurl) {
    // zypper cannot change the URL of a repository.
    await deleteRepo(alias, root, context)
    return changeRepo(alias, { cache: false, ...known, ...options }, root, context)
  }
  const changes = changesOf(options)
  const trusting = options.gpgautoimport === true
  const globals = trusting ? ['--gpg-auto-import-keys'] : []
  if (changes.length > 0)
    await zypper([...globals, 'mr', ...changes, alias], context, { root, xml: true, refreshing: true })
  // Only a refresh imports keys.
  if (trusting) await zypper([...globals, 'refresh', alias], context, { root, xml: true })
  const now = await repoOf(alias, root, context)
  if (trusting || isNew || changes.length > 0) return now
  return { ...now, comment: 'Specified arguments did not result in modification of repo' }
}

async function addRepo(
  alias: string,
  options: Readonly<Record<string, unknown>>,
  repos: Readonly<Record<string, Repo>>,
  root: Root,
  context: Context,
): Promise<void> {
  const url = String(options.url ?? options.mirrorlist ?? options.baseurl ?? '')
  if (url === '')
    throw new CommandExecutionError(
      `Repository '${alias}' not found, and neither 'baseurl' nor 'mirrorlist' was specified`,
    )
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url))
    throw new CommandExecutionError(
      `Repository '${alias}' not found and URL for baseurl/mirrorlist is malformed`,
    )
  const same = Object.entries(repos).find(([, { baseurl }]) => baseurl === url || baseurl === `${url}/`)
  if (same) throw new CommandExecutionError(`Repository '${alias}' already exists as '${same[0]}'.`)
  await zypper(['ar', url, alias], context, { root, xml: true })
  if (!Object.hasOwn(await listRepos(root, context), alias))
    throw new CommandExecutionError(
      `Failed add new repository '${alias}' for unspecified reason. Please check zypper logs.`,
    )
}

/** Options of `zypper modifyrepo`, each with a word for true and one for false. */
const SWITCHES: Readonly<Record<string, string>> = {
  enabled: 'enable',
  refresh: 'refresh',
  cache: 'keep-packages',
  gpgcheck: 'gpgcheck',
}

function changesOf(options: Readonly<Record<string, unknown>>): string[] {
  const switches = Object.entries(SWITCHES)
    .filter(([name]) => options[name] !== undefined)
    .map(([name, word]) => {
      if (options[name]) return `--${word}`
      return name === 'enabled' ? '--disable' : `--no-${word}`
    })
  const name = options.name ?? options.humanname
  return [
    ...switches,
    ...(options.priority === undefined ? [] : [`--priority=${options.priority}`]),
    ...(name === undefined || name === null ? [] : ['--name', String(name)]),
  ]
}
