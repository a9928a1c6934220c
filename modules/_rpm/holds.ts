import { type Context, SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'
import { type HoldResult, report } from '../_pkg/hold.ts'
import { plainNames } from '../_pkg/names.ts'
import { listVersions } from './installed.ts'
import { isDnf, managerName, readManager, runManager } from './manager.ts'

/** What a package may be called, by the pattern that users can give instead. */
export const HOLD_PATTERN = String.raw`[\w+]+(?:[.-][^-]+)*`

/** List the holds of the versionlock plugin: names, or with `full` as the plugin shows them. */
export async function listHolds(pattern: string, full: boolean, context: Context): Promise<string[]> {
  await checkPlugin(context)
  // Otherwise dnf may print that it fetches lists, and the name of a repository could look like a hold.
  const { stdout } = await readManager(['--quiet', 'versionlock', 'list'], context)
  const dnf = isDnf(await managerName())
  const expression = holdExpression(pattern, full || dnf ? 'with epoch' : 'name', dnf)
  return stdout.split('\n').flatMap((line) => {
    const found = expression.exec(line)?.[1]
    return found === undefined ? [] : [full ? found : nameOf(found)]
  })
}

// dnf writes name-epoch:version-release.*, yum epoch:name-version-release.*
function holdExpression(pattern: string, what: 'with epoch' | 'name', dnf: boolean): RegExp {
  const hold = `${pattern}-\\S+`
  try {
    return new RegExp(dnf ? `(${hold})` : what === 'name' ? `\\d+:(${hold})` : `(\\d+:${hold})`)
  } catch (cause) {
    throw new SaltInvocationError(`'${pattern}' is no regular expression: ${(cause as Error).message}`)
  }
}

const nameOf = (hold: string): string =>
  hold
    .replace(/\.[^.]*$/, '')
    .replace(/-[^-]*$/, '')
    .replace(/-[^-]*$/, '')

/** Hold packages at their installed versions. */
export async function holdPackages(names: readonly string[], context: Context) {
  plainNames(names)
  const holds = await listHolds(HOLD_PATTERN, false, context)
  return eachOf(names, async (name) => {
    if (holds.includes(name)) return report(name, true, `Package ${name} is already set to be held.`)
    if (context.opts.test === true) return report(name, null, `Package ${name} is set to be held.`)
    const { retcode, stdout } = await runManager(['versionlock', name], context)
    if (retcode === 0 && !stdout.includes('No package found for'))
      return report(name, true, `Package ${name} is now being held.`, { new: 'hold', old: '' })
    return report(name, false, `Package ${name} was unable to be held.`)
  })
}

/** Let held packages be changed again. */
export async function unholdPackages(names: readonly string[], context: Context) {
  plainNames(names)
  const dnf = isDnf(await managerName())
  const holds = await listHolds(HOLD_PATTERN, !dnf, context)
  return eachOf(names, async (name) => {
    // yum removes a hold only by the whole of it.
    const chosen = holds.filter((hold) =>
      dnf ? hold === name : fnmatch(hold, `*${name}*`) && nameOf(hold.replace(/^\d+:/, '')) === name,
    )
    if (chosen.length === 0) return report(name, true, `Package ${name} is not being held.`)
    if (context.opts.test === true) return report(name, null, `Package ${name} is set to be unheld.`)
    const { retcode } = await runManager(['versionlock', 'delete', ...chosen], context)
    if (retcode === 0)
      return report(name, true, `Package ${name} is no longer held.`, { new: '', old: 'hold' })
    return report(name, false, `Package ${name} was unable to be unheld.`)
  })
}

async function eachOf(
  names: readonly string[],
  change: (name: string) => Promise<HoldResult>,
): Promise<Record<string, HoldResult>> {
  const results: Record<string, HoldResult> = {}
  for (const name of names) results[name] = await change(name)
  return results
}

/** Check that the versionlock plugin is installed. @throws SaltInvocationError */
async function checkPlugin(context: Context): Promise<void> {
  const plugin = await pluginName(context)
  if (!Object.hasOwn(await listVersions(context), plugin))
    throw new SaltInvocationError(`Cannot proceed, ${plugin} is not installed.`)
}

async function pluginName({ grains }: Context): Promise<string> {
  const manager = await managerName()
  const major = Number(grains.osmajorrelease)
  if (manager === 'tdnf') throw new SaltInvocationError('Cannot proceed, no versionlock for tdnf')
  if (manager === 'yum') return major === 5 ? 'yum-versionlock' : 'yum-plugin-versionlock'
  if (String(grains.os).toLowerCase() === 'fedora' && Number(grains.osrelease) < 26)
    return 'python3-dnf-plugins-extras-versionlock'
  return major < 8 ? 'python2-dnf-plugin-versionlock' : 'python3-dnf-plugin-versionlock'
}
