/** Install Python packages with pip. `bin_env` names a virtualenv, or the pip or Python to use. */
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { checkEditables, checkIndexes, checkLinks, extraWords } from './_pip/checks.ts'
import { type PipPlace, pipOutput, runPip } from './_pip/run.ts'

const text = p.optional(p.string())
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const words = p.optional(p.union(p.string(), p.array(p.string())))
const place = { bin_env: text, user: text, cwd: text, env_vars: p.optional(p.any()) }

/**
 * Install packages, and return what `cmd.run_all` returns. `pkgs` and `requirements` are lists, or text with commas.
 * `extra_args` are further words for pip, or maps of an option to its value.
 *
 * @example salt '*' pip.install django==4.2,psycopg bin_env=/srv/venv
 * @example salt '*' pip.install requirements=/srv/app/requirements.txt upgrade=True
 */
export const install = fn(
  {
    pkgs: words,
    requirements: words,
    bin_env: text,
    log: text,
    proxy: p.secret(text),
    timeout: p.optional(p.integer({ minimum: 0 })),
    editable: words,
    find_links: words,
    index_url: p.secret(text),
    extra_index_url: p.secret(text),
    no_index: flag(false),
    target: text,
    source: text,
    upgrade: flag(false),
    force_reinstall: flag(false),
    ignore_installed: flag(false),
    exists_action: p.optional(p.enum('s', 'i', 'w', 'b', 'switch', 'ignore', 'wipe', 'backup')),
    no_deps: flag(false),
    global_options: words,
    install_options: words,
    user: text,
    cwd: text,
    pre_releases: flag(false),
    cert: text,
    saltenv: p.default(p.string(), 'base'),
    env_vars: p.optional(p.any()),
    trusted_host: words,
    no_cache_dir: flag(false),
    cache_dir: text,
    no_binary: words,
    disable_version_check: flag(false),
    extra_args: p.optional(p.array(p.any())),
  },
  async (given, context) => {
    const requirements = await requirementArgs(given.requirements, given.saltenv, context)
    if (!Array.isArray(requirements)) return requirements
    checkIndexes(given)
    await checkLinks(listOf(given.find_links))
    checkEditables(listOf(given.editable))
    const named = [...listOf(given.pkgs), ...requirements, ...listOf(given.editable)]
    if (named.length === 0) return { retcode: 0, stdout: 'No packages to install.' }
    const args = [
      'install',
      ...option('--log', given.log),
      ...option('--timeout', given.timeout),
      ...each('--find-links', given.find_links),
      ...(given.no_index ? ['--no-index'] : []),
      ...option('--target', given.target),
      ...option('--source', given.source),
      ...when(given.upgrade, '--upgrade'),
      ...when(given.force_reinstall, '--force-reinstall'),
      ...when(given.ignore_installed, '--ignore-installed'),
      ...option('--exists-action', given.exists_action?.[0]),
      ...when(given.no_deps, '--no-deps'),
      ...when(given.pre_releases, '--pre'),
      ...option('--cert', given.cert),
      ...each('--trusted-host', given.trusted_host),
      ...when(given.no_cache_dir, '--no-cache-dir'),
      ...option('--cache-dir', given.cache_dir),
      ...each('--no-binary', given.no_binary),
      ...when(given.disable_version_check, '--disable-pip-version-check'),
      ...each('--global-option', given.global_options),
      ...each('--install-option', given.install_options),
      ...requirements,
      ...each('--editable', given.editable),
      ...packageArgs(given.pkgs),
      ...extraWords(given.extra_args ?? []),
    ]
    return runPip(args, given, context, secretOptions(given))
  },
)

/**
 * Uninstall packages, and return what `cmd.run_all` returns.
 *
 * @example salt '*' pip.uninstall django,psycopg bin_env=/srv/venv
 */
export const uninstall = fn(
  {
    pkgs: words,
    requirements: words,
    bin_env: text,
    log: text,
    proxy: p.secret(text),
    timeout: p.optional(p.integer({ minimum: 0 })),
    user: text,
    cwd: text,
    saltenv: p.default(p.string(), 'base'),
  },
  async ({ pkgs, requirements, log, proxy, timeout, saltenv, ...where }, context) => {
    const required = await requirementArgs(requirements, saltenv, context)
    if (!Array.isArray(required)) return required
    const args = [
      'uninstall',
      '-y',
      ...option('--log', log),
      ...option('--timeout', timeout),
      ...required,
      ...packageArgs(pkgs),
    ]
    return runPip(args, where, context, secretOptions({ proxy }))
  },
)

/**
 * List the installed packages as lines of a requirements file.
 *
 * @example salt '*' pip.freeze bin_env=/srv/venv
 */
export const freeze = fn(place, async (where, context) =>
  (await pipOutput(['freeze', '--all'], where, context)).split('\n'),
)

const list = fn({ prefix: text, ...place }, async ({ prefix = '', ...where }, context) => {
  const found = Object.entries(await versionsOf(where, context))
  return Object.fromEntries(found.filter(([name]) => name.toLowerCase().startsWith(prefix.toLowerCase())))
})

/**
 * List the installed packages whose names begin with `prefix`, and their versions.
 *
 * @example salt '*' pip.list
 * @example salt '*' pip.list salt
 */
export { list }

/**
 * Return the version of pip.
 *
 * @example salt '*' pip.version
 */
export const version = fn({ bin_env: text, cwd: text, user: text }, async (where, context) => {
  const printed = await pipOutput(['--version'], where, context)
  return /^pip (\S+)/.exec(printed)?.[1] ?? null
})

/**
 * List the packages that have a later version, and that version.
 *
 * @example salt '*' pip.list_upgrades
 */
export const list_upgrades = fn({ bin_env: text, user: text, cwd: text }, (where, context) =>
  upgradesOf(where, context),
)

/**
 * True if a package has a later version.
 *
 * @example salt '*' pip.upgrade_available requests
 */
export const upgrade_available = fn(
  { pkg: p.string(), bin_env: text, user: text, cwd: text },
  async ({ pkg, ...where }, context) => Object.hasOwn(await upgradesOf(where, context), pkg),
)

/**
 * True if a package is installed.
 *
 * @example salt '*' pip.is_installed requests
 */
export const is_installed = fn(
  { pkgname: p.string(), bin_env: text, user: text, cwd: text },
  async ({ pkgname, ...where }, context) => {
    const packages = parsed<{ name: string }>(await pipOutput(['list', '--format=json'], where, context))
    return packages.some(({ name }) => name.toLowerCase() === pkgname.toLowerCase())
  },
)

/**
 * List all versions of a package that can be installed, the earliest first, or null. Versions that are alpha, beta or
 * release candidates are left out unless they are asked for.
 *
 * @example salt '*' pip.list_all_versions requests
 */
export const list_all_versions = fn(
  {
    pkg: p.string(),
    bin_env: text,
    include_alpha: flag(false),
    include_beta: flag(false),
    include_rc: flag(false),
    user: text,
    cwd: text,
    index_url: p.secret(text),
    extra_index_url: p.secret(text),
  },
  async ({ pkg, include_alpha, include_beta, include_rc, index_url, extra_index_url, ...where }, context) => {
    const all = include_alpha || include_beta || include_rc ? ['--pre'] : []
    const urls = secretOptions({ index_url, extra_index_url })
    const words = ['index', 'versions', ...packageArgs([pkg]), ...all]
    const { stdout } = await runPip(words, where, context, urls)
    const versions = (/Available versions: (.*)/.exec(stdout)?.[1] ?? '').split(', ').filter(Boolean)
    const unwanted = [...when(!include_alpha, 'a'), ...when(!include_beta, 'b'), ...when(!include_rc, 'rc')]
    // pip prints the latest one first.
    const chosen = versions.filter((one) => !unwanted.some((mark) => one.includes(mark))).reverse()
    return chosen.length > 0 ? chosen : null
  },
)

/**
 * List the installed packages whose names begin with `prefix`, and their versions, by what `pip.freeze` prints.
 *
 * @example salt '*' pip.list_freeze_parse
 * @example salt '*' pip.list_freeze_parse salt
 */
export const list_freeze_parse = fn(
  { prefix: text, ...place },
  async ({ prefix = '', ...where }, context) => {
    const printed = (await pipOutput(['freeze', '--all'], where, context)).split('\n')
    const found = printed.flatMap((line) => frozen(line) ?? [])
    const chosen = found.filter(({ name }) => name.toLowerCase().startsWith(prefix.toLowerCase()))
    return Object.fromEntries(chosen.map(({ name, version }) => [name, version]))
  },
)

/**
 * Upgrade all packages that have a later version. Returns `changes`, `result` and `comment`, what pip wrote to stderr.
 *
 * @example salt '*' pip.upgrade bin_env=/srv/venv
 */
export const upgrade = fn({ bin_env: text, user: text, cwd: text }, async (where, context) => {
  const before = await versionsOf(where, context)
  const outcomes: { retcode: number; stderr: string }[] = []
  for (const name of Object.keys(await upgradesOf(where, context)))
    outcomes.push(await runPip(['install', '-U', ...packageArgs([name])], where, context))
  const after = await versionsOf(where, context)
  return {
    changes: changesBetween(before, after),
    result: outcomes.every(({ retcode }) => retcode === 0),
    comment: outcomes.map(({ stderr }) => stderr).join(''),
  }
})

/** Read a line of `pip freeze`: `name==version`, or an editable one whose address ends with `#egg=name`. */
function frozen(line: string): { name: string; version: string } | undefined {
  const editable = /^-e (.*?)#egg=(.*)$/.exec(line)
  if (editable) return { name: editable[2] ?? '', version: editable[1] ?? '' }
  const [, name, version] = /^(?:-e )?([^#\s=][^=]*)={2,3}([^=]+)/.exec(line) ?? []
  return name !== undefined && version !== undefined ? { name, version } : undefined
}

async function versionsOf(where: PipPlace, context: Context): Promise<Record<string, string>> {
  const printed = await pipOutput(['list', '--format=json'], where, context)
  const packages = parsed<{ name: string; version: string }>(printed)
  return Object.fromEntries(packages.map(({ name, version }) => [name, version]))
}

type Versions = Readonly<Record<string, string>>

const changesBetween = (before: Versions, after: Versions): Record<string, { old: string; new: string }> =>
  Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, { old: before[name] ?? '', new: after[name] ?? '' }]),
  )

async function upgradesOf(where: PipPlace, context: Context): Promise<Record<string, string>> {
  const printed = await pipOutput(['list', '--outdated', '--format=json'], where, context)
  const found = parsed<{ name: string; latest_version: string; latest_filetype: string }>(printed)
  return Object.fromEntries(
    found.map(({ name, latest_version, latest_filetype }) => [
      name,
      `${latest_version} [${latest_filetype}]`,
    ]),
  )
}

function parsed<T>(printed: string): T[] {
  try {
    return JSON.parse(printed) as T[]
  } catch {
    throw new CommandExecutionError('Invalid JSON: pip printed something else than a list of packages')
  }
}

const when = (wanted: boolean, ...args: string[]): string[] => (wanted ? args : [])
const option = (name: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [name, String(value)]
/** Options that may have passwords in them go into the environment: everybody on the host sees arguments. */
const secretOptions = (given: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    (['proxy', 'index_url', 'extra_index_url'] as const)
      .filter((name) => given[name] !== undefined)
      .map((name) => [`PIP_${name.toUpperCase()}`, String(given[name])]),
  )
const each = (name: string, given: string | readonly string[] | undefined): string[] =>
  listOf(given).flatMap((value) => [name, value])

const listOf = (given: string | readonly string[] = []): string[] =>
  typeof given === 'string' ? splitNames(given) : [...given]

// A comma inside brackets belongs to the extras of a package, and before an operator to its version.
const splitNames = (given: string): string[] =>
  given
    .split(/,(?![^[]*\])(?!\s*[<>=!~])/)
    .map((name) => name.trim())
    .filter(Boolean)

function packageArgs(given: string | readonly string[] | undefined): string[] {
  const names = listOf(given)
  const option = names.find((name) => name.startsWith('-'))
  if (option === undefined) return names
  throw new SaltInvocationError(`'${option}' is an option of pip, not the name of a package`)
}

/** Return the arguments for files of requirements, or Salt's answer if the file server does not have one. */
async function requirementArgs(
  given: string | readonly string[] | undefined,
  saltenv: string,
  context: Context,
): Promise<string[] | { result: false; comment: string }> {
  const args: string[] = []
  for (const source of listOf(given)) {
    const path = source.startsWith('salt://')
      ? await context.call('cp.cache_file', { path: source, saltenv })
      : source
    if (typeof path !== 'string' || path === '') {
      context.retcode = 1
      return { result: false, comment: `pip requirements file '${source}' not found` }
    }
    args.push('--requirement', path)
  }
  return args
}
