import { type Context, SaltInvocationError } from 'salt-ts'
import { type Changes, changesBetween, problem } from '../_pkg/changes.ts'
import type { Targets } from '../_pkg/targets.ts'
import { apk, listAgain, listJoined } from './packages.ts'

/** Install packages or files and return the changes. Rejects with them if apk reports errors. */
export async function installPackages(targets: Targets, context: Context): Promise<Changes> {
  const old = await listJoined(context)
  const names = targets.from === 'repository' ? [...targets.packages.keys()] : []
  const words =
    targets.from === 'files'
      ? targets.paths
      : [...targets.packages].map(([name, version]) => name + constraint(name, version))
  const update = names.some((name) => Object.hasOwn(old, name)) ? ['-u'] : []
  return change(['add', ...update, ...words], old, 'installing', context)
}

// apk reads name=1.2-r3, name<1.3, name>=1.2 and name~1.2.
function constraint(name: string, version: string | null): string {
  if (version === null || version === '') return ''
  const [, operator, bare] = /^(=+|<=|>=|<|>|~)?\s?([\w.:~+-]+)$/.exec(version) ?? []
  if (bare === undefined)
    throw new SaltInvocationError(
      `'${version}' is no version of ${name}: give one such as 1.2.3-r0, with an operator before it or without`,
    )
  return `${operator === undefined || operator.startsWith('=') ? '=' : operator}${bare}`
}

/** Remove packages and return the changes; with `purge` also the files that were changed or cached. */
export async function removePackages(
  targets: Targets | undefined,
  purge: boolean,
  context: Context,
): Promise<Changes> {
  const names = targets?.from === 'repository' ? [...targets.packages.keys()] : []
  if (names.length === 0) return {}
  const old = await listJoined(context)
  return change(['del', ...(purge ? ['--purge'] : []), ...names], old, 'removing', context)
}

async function change(
  words: readonly string[],
  old: Readonly<Record<string, string>>,
  what: string,
  context: Context,
): Promise<Changes> {
  const { retcode, stdout, stderr } = await apk(words, context)
  const changes = changesBetween(old, await listAgain(context))
  if (retcode === 0) return changes
  throw problem(`Problem encountered ${what} package(s)`, { errors: [stderr || stdout], changes })
}

/** Upgrade packages, or all. */
export async function upgradePackages(names: readonly string[], context: Context) {
  const old = await listJoined(context)
  const words = names.length > 0 ? ['add', '-u', ...names] : ['upgrade']
  const { retcode, stdout } = await apk(words, context, { merged: true })
  const changes = changesBetween(old, await listAgain(context))
  return { changes, result: retcode === 0, comment: retcode === 0 ? '' : stdout }
}
