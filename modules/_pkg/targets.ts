import { isAbsolute } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { packageName } from './names.ts'

/** What to install: packages of a repository, with the version a user asks for, or files. */
export type Targets =
  | { readonly from: 'repository'; readonly packages: ReadonlyMap<string, string | null> }
  | { readonly from: 'files'; readonly paths: readonly string[] }

interface Given {
  readonly name?: string | undefined
  readonly pkgs?: unknown
  readonly sources?: unknown
  readonly version?: string | undefined
  readonly saltenv?: string | undefined
}

/** Read `name`, `pkgs` or `sources`, fetching files from where they are. Undefined if nothing is named. */
export async function parseTargets(
  { name, pkgs, sources, version, saltenv }: Given,
  normalize: (name: string) => string,
  context: Context,
): Promise<Targets | undefined> {
  const many = !isEmpty(pkgs)
  if (many && !isEmpty(sources)) {
    context.log.error('Only one of "pkgs" and "sources" can be used.')
    return undefined
  }
  if ((many || !isEmpty(sources)) && version !== undefined) {
    context.log.warn("'version' argument will be ignored for multiple package targets")
  }
  if (many) return { from: 'repository', packages: packagesOf(pkgs, normalize) }
  if (!isEmpty(sources)) return { from: 'files', paths: await filesOf(sources, saltenv ?? 'base', context) }
  if (name) {
    const names = name.split(',').map((one) => normalize(packageName(one.trim())))
    return {
      from: 'repository',
      packages: new Map(names.map((one) => [one, names.length === 1 ? (version ?? null) : null])),
    }
  }
  context.log.error('No package sources provided')
  return undefined
}

/** List the names in `pkgs`, which is a list of names and of maps name → version, or such a map, or a single name. */
export function packageNames(pkgs: unknown): string[] {
  return entriesOf(pkgs).map(([name]) => name)
}

const isEmpty = (given: unknown): boolean =>
  given === undefined || given === null || given === '' || (Array.isArray(given) && given.length === 0)

function packagesOf(pkgs: unknown, normalize: (name: string) => string): ReadonlyMap<string, string | null> {
  const entries = entriesOf(pkgs)
  const packages = new Map(entries.map(([name, version]) => [normalize(packageName(name)), version]))
  if (packages.size === entries.length) return packages
  throw new SaltInvocationError(
    `You are passing a list of packages that contains duplicated packages names: ${JSON.stringify(pkgs)}. This cannot be processed. In case you are targeting different versions of the same package, please target them individually`,
  )
}

function entriesOf(pkgs: unknown): [string, string | null][] {
  if (typeof pkgs === 'string') return pkgs.split(',').map((name) => [name.trim(), null])
  return [pkgs].flat().flatMap((item): [string, string | null][] => {
    if (typeof item !== 'object' || item === null) return [[String(item), null]]
    return Object.entries(item).map(([name, version]) => [name, version == null ? null : String(version)])
  })
}

async function filesOf(sources: unknown, saltenv: string, context: Context): Promise<string[]> {
  const entries = [sources].flat().map((source) => Object.entries(Object(source)))
  if (entries.some((entry) => entry.length !== 1)) {
    throw new SaltInvocationError(
      'sources must be a list of maps with one entry each, such as \'[{"foo": "salt://foo.deb"}]\'',
    )
  }
  const paths: string[] = []
  for (const [name, source] of entries.map(([entry]) => entry as [string, unknown])) {
    paths.push(await fileOf(name, String(source), saltenv, context))
  }
  return paths
}

async function fileOf(name: string, source: string, saltenv: string, context: Context): Promise<string> {
  if (isAbsolute(source)) return source
  if (!/^[a-z0-9+]+:\/\//i.test(source)) {
    throw new SaltInvocationError(
      `Path ${source} for package ${name} is either not absolute or an invalid protocol`,
    )
  }
  const cached = await context.call('cp.cache_file', { path: source, saltenv })
  if (typeof cached === 'string' && cached !== '') return cached
  throw new CommandExecutionError(
    `The file ${source} of package ${name} could not be fetched; check that it exists in saltenv '${saltenv}'`,
  )
}
