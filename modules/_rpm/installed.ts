import { CommandExecutionError, type Context } from 'salt-ts'
import { append } from '../_pkg/group.ts'
import { runProgram } from '../_pkg/program.ts'
import { compareRpmVersions } from '../_pkg/rpm-version.ts'

/** An installed version of a package. */
interface Installed {
  readonly epoch: string | null
  readonly version: string
  readonly release: string
  readonly arch: string
  readonly install_date_time_t: number
}

const FIELDS = ['NAME', 'EPOCHNUM', 'VERSION', 'RELEASE', 'ARCH', 'INSTALLTIME']
const FORMAT = `${FIELDS.map((name) => `%{${name}}`).join('_|-')}\\n`
const ARCHES_32 = ['i386', 'i486', 'i586', 'i686', 'athlon', 'geode']

/** Read the database of rpm: the installed versions by package, the earliest first. */
async function readInstalled(context: Context): Promise<Record<string, Installed[]>> {
  const { retcode, stdout, stderr } = await runProgram(['rpm', '-qa', '--queryformat', FORMAT], context)
  if (retcode !== 0) throw new CommandExecutionError(`The packages cannot be listed: ${stderr || stdout}`)
  const found: Record<string, Installed[]> = {}
  for (const line of stdout.split('\n')) {
    const [name, epoch, version, release, arch, time] = line.split('_|-')
    if (!name || name === 'gpg-pubkey' || version === undefined || release === undefined) continue
    const one = { version, release, arch: arch ?? '', install_date_time_t: Number(time) }
    append(found, nameWithArch(name, one.arch, context.grains), {
      ...one,
      epoch: epoch === '0' || epoch === undefined ? null : epoch,
    })
  }
  for (const versions of Object.values(found)) {
    versions.sort((a, b) => compareRpmVersions(fullVersion(a), fullVersion(b)))
  }
  return found
}

/** Return a version as `epoch:version-release`, the epoch only if there is one. */
const fullVersion = ({ epoch, version, release }: Installed): string =>
  `${epoch === null ? '' : `${epoch}:`}${version}${release ? `-${release}` : ''}`

/** Return the name of a package; one of another architecture than that of this system has its architecture in it. */
export function nameWithArch(name: string, arch: string, { osarch }: Context['grains']): string {
  const both32 = ARCHES_32.includes(arch) && ARCHES_32.includes(String(osarch))
  return both32 || arch === osarch || arch === 'noarch' || arch === '' ? name : `${name}.${arch}`
}

/** Versions by package, as texts. */
export async function listVersions(context: Context): Promise<Record<string, string[]>> {
  const found = Object.entries(await readInstalled(context))
  return Object.fromEntries(found.map(([name, versions]) => [name, versions.map(fullVersion)]))
}

/** Versions by package, several as one text with commas. */
export async function listJoined(context: Context): Promise<Record<string, string>> {
  const listed = Object.entries(await listVersions(context))
  return Object.fromEntries(listed.map(([name, versions]) => [name, versions.join(',')]))
}
