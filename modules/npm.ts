/** Install packages of Node.js with npm: below a folder with `dir`, else for the whole host. */
import { CommandExecutionError, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { dependenciesIn, jsonIn, runNpm } from './_npm/run.ts'

export const virtual: Virtual = async () =>
  (await which('npm')) !== null ||
  'npm execution module could not be loaded because the npm binary could not be located'

const text = p.optional(p.string())
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const env = p.optional(p.any({ description: 'A map, or text with one NAME=value per line.' }))

/**
 * Install a package, several as `pkgs`, or without either what the package.json of `dir` names. Returns what npm reports.
 * With `dry_run` nothing is installed; `silent` keeps npm from printing more than its report.
 *
 * @example salt '*' npm.install coffee-script
 * @example salt '*' npm.install coffee-script@1.0.1 dir=/srv/app
 * @example salt '*' npm.install pkgs='["mustache", "express@4"]' registry=https://npm.example.com
 */
export const install = fn(
  {
    pkg: text,
    pkgs: p.optional(p.union(p.array(p.string()), p.string())),
    dir: text,
    runas: text,
    registry: text,
    env,
    dry_run: flag(false),
    silent: flag(true),
  },
  async ({ pkg, pkgs = [], registry, dry_run, silent, ...place }, context) => {
    const words = [
      ...['install', '--json'],
      // npm's own --silent has kept the report back, too, since version 11.
      ...(silent ? ['--loglevel=error'] : []),
      ...(registry ? [`--registry=${registry}`] : []),
      ...(dry_run ? ['--dry-run'] : []),
    ]
    const names = pkg ? [pkg] : [pkgs].flat()
    const outcome = await runNpm(words, place, context, { names })
    if (outcome.retcode !== 0) throw new CommandExecutionError(outcome.stderr || outcome.stdout)
    return jsonIn(outcome)
  },
)

/**
 * Remove a package. Returns whether npm could.
 *
 * @example salt '*' npm.uninstall coffee-script dir=/srv/app
 */
export const uninstall = fn(
  { pkg: p.string(), dir: text, runas: text, env },
  async ({ pkg, ...place }, context) => {
    const { retcode, stderr } = await runNpm(['uninstall'], place, context, { names: [pkg] })
    if (retcode !== 0) context.log.error(stderr)
    return retcode === 0
  },
  { returns: p.boolean() },
)

/**
 * List the packages that are installed, with what npm knows about each; `depth` also lists theirs.
 *
 * @example salt '*' npm.list
 * @example salt '*' npm.list express dir=/srv/app depth=1
 */
const list = fn(
  { pkg: text, dir: text, runas: text, env, depth: p.optional(p.number()) },
  async ({ pkg, depth, ...place }, context) => {
    const words = ['list', '--json', '--silent']
    if (depth !== undefined) words.push(`--depth=${Math.trunc(depth)}`)
    const names = pkg ? [pkg] : []
    const outcome = await runNpm(words, place, context, { names, ignoreRetcode: true })
    // npm ends with 1 also if there is no such package, and then says nothing.
    if (outcome.retcode !== 0 && outcome.stderr) throw new CommandExecutionError(outcome.stderr)
    return dependenciesIn(outcome)
  },
)

export { list }

const cache = { path: text, runas: text, env }

/**
 * Remove a package, or with `force` everything, from npm's cache. Returns whether npm could.
 *
 * @example salt '*' npm.cache_clean force=True
 * @example salt '*' npm.cache_clean lodash@4.17.20
 */
export const cache_clean = fn(
  { ...cache, force: flag(false) },
  async ({ path, force, ...place }, context) => {
    const words = ['cache', 'clean', ...(force ? ['--force'] : [])]
    const names = path ? [path] : []
    const { retcode, stderr } = await runNpm(words, place, context, { names, ignoreRetcode: true })
    if (retcode !== 0) context.log.error(stderr)
    return retcode === 0
  },
  { returns: p.boolean() },
)

/**
 * List what is in npm's cache.
 *
 * @example salt '*' npm.cache_list
 * @example salt '*' npm.cache_list lodash@4.17.20
 */
export const cache_list = fn(
  cache,
  async ({ path, ...place }, context) => {
    const names = path ? [path] : []
    const outcome = await runNpm(['cache', 'ls'], place, context, { names, ignoreRetcode: true })
    if (outcome.retcode !== 0 && outcome.stderr) throw new CommandExecutionError(outcome.stderr)
    return outcome.stdout
  },
  { returns: p.string() },
)

/**
 * Return the folder of npm's cache.
 *
 * @example salt '*' npm.cache_path
 */
export const cache_path = fn(
  { runas: text, env },
  async (place, context) => {
    const words = ['config', 'get', 'cache']
    const { stdout, stderr } = await runNpm(words, place, context, { ignoreRetcode: true })
    return stdout || stderr
  },
  { returns: p.string() },
)
