import { CommandExecutionError, type Context } from 'salt-ts'
import type { Versions } from '../_pkg/changes.ts'
import { compareDebVersions } from '../_pkg/deb-version.ts'
import { append } from '../_pkg/group.ts'
import { packageName } from '../_pkg/names.ts'
import { aptGet, readApt } from './command.ts'
import { listVersions } from './installed.ts'

interface Latest {
  readonly fromrepo?: string | undefined
  readonly show_installed?: boolean
}

/** Return for each name the version that apt would install, or '' if that or a later one is installed. */
export async function latestVersions(
  names: readonly string[],
  { fromrepo, show_installed = false }: Latest,
  context: Context,
): Promise<Record<string, string>> {
  const installed = await listVersions({}, context)
  const latest: Record<string, string> = {}
  for (const name of names) {
    const candidate = await candidateOf(name, fromrepo, context)
    const current = installed[name] ?? []
    const known = !show_installed && current.some((version) => compareDebVersions(version, candidate) >= 0)
    latest[name] = known ? '' : candidate
  }
  return latest
}

async function candidateOf(name: string, fromrepo: string | undefined, context: Context): Promise<string> {
  const release = fromrepo ? ['-o', `APT::Default-Release=${fromrepo}`] : []
  const { stdout } = await readApt(['apt-cache', '-q', 'policy', packageName(name), ...release], context)
  const candidate = /^\s*Candidate:\s+(\S+)/m.exec(stdout)?.[1] ?? ''
  return candidate.toLowerCase() === '(none)' ? '' : candidate
}

/** List the packages that an upgrade would install, and their versions. */
export async function listUpgradable(
  distUpgrade: boolean,
  fromrepo: string | undefined,
  context: Context,
): Promise<Versions> {
  const release = fromrepo ? ['-o', `APT::Default-Release=${fromrepo}`] : []
  const how = distUpgrade ? 'dist-upgrade' : 'upgrade'
  const { retcode, stdout, stderr } = await aptGet(['--just-print', how, ...release], context)
  if (retcode !== 0) {
    const reason = stderr || stdout
    throw new CommandExecutionError(`Failed to get upgrades${reason ? `: ${reason}` : ''}`)
  }
  return Object.fromEntries(
    [...stdout.matchAll(/^Conf (\S+) \((\S+)/gm)].map(([, name, version]) => [name!, version!]),
  )
}

/** List the versions of packages in the lists of apt, the newest first. */
export async function listAvailable(
  names: readonly string[],
  context: Context,
): Promise<Record<string, string[]>> {
  const words: readonly [string, ...string[]] =
    names.length > 0 ? ['apt-cache', 'show', ...names.map(packageName)] : ['apt-cache', 'dump']
  const { stdout } = await readApt(words, context, { ignoreRetcode: true })
  const available: Record<string, string[]> = {}
  let name = ''
  for (const line of stdout.split('\n')) {
    const [, key, value = ''] = /^\s*(Package|Version):\s+(.+)$/.exec(line) ?? []
    if (key === 'Package') name = value.trim()
    else if (key === 'Version') append(available, name, value.trim())
  }
  return available
}

/** Return what `apt-cache show` has on packages, by name and version. `filter` are keys, or texts of keys with commas; none for all. */
export async function showPackages(
  names: readonly string[],
  filter: readonly string[],
  context: Context,
): Promise<Record<string, Record<string, Record<string, string>>>> {
  const only = filter.flatMap((keys) => keys.toLowerCase().split(',')).map((key) => key.trim())
  const { stdout } = await readApt(['apt-cache', 'show', ...names.map(packageName)], context)
  const shown: Record<string, Record<string, Record<string, string>>> = {}
  for (const paragraph of stdout.split(/\n\s*\n/)) {
    const { Package: name, Version: version, ...rest } = fieldsOf(paragraph)
    if (name === undefined || version === undefined) continue
    const chosen = Object.entries(rest).filter(
      ([key]) => only.length === 0 || only.includes(key.toLowerCase()),
    )
    const versions = shown[name] ?? {}
    versions[version] = { ...versions[version], ...Object.fromEntries(chosen) }
    shown[name] = versions
  }
  return shown
}

// Continued lines belong to the field above them, and are not shown, as in Salt; those of other fields are no fields.
function fieldsOf(paragraph: string): Record<string, string> {
  return Object.fromEntries(
    paragraph.split('\n').flatMap((line) => {
      const [, key, value = ''] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? []
      return key === undefined ? [] : [[key, value.trim()]]
    }),
  )
}
