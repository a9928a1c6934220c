import { lineOf, pairsIn, textOf } from '../_facts/files.ts'
import { osFamily, osName } from './names.ts'

type Pairs = ReadonlyMap<string, string>

/** Contents of the files that identify the distribution; tests pass their own. */
interface ReleaseFiles {
  readonly osRelease: string | undefined
  readonly lsbRelease: string | undefined
  readonly centosRelease: string | undefined
}

export async function readReleaseFiles(): Promise<ReleaseFiles> {
  const [etc, usr, lsbRelease, centosRelease] = await Promise.all([
    textOf('/etc/os-release'),
    textOf('/usr/lib/os-release'),
    textOf('/etc/lsb-release'),
    lineOf('/etc/centos-release'),
  ])
  return { osRelease: etc ?? usr, lsbRelease, centosRelease }
}

/** Return the grains `os`, `os_family`, `osrelease` and related ones, with Salt's names of systems. */
export function distribution(files: ReleaseFiles): Record<string, unknown> {
  const release = shellPairs(files.osRelease ?? '')
  const lsb = lsbGrains(shellPairs(files.lsbRelease ?? ''), release)
  const fullName = fullNameOf(release) ?? lsb.lsb_distrib_id
  if (fullName === undefined) return { os: 'Linux', os_family: 'Unknown', osfullname: 'Linux', ...lsb }
  const id = release.get('ID') ?? 'linux'
  const os = isSuse(release) ? 'SUSE' : osName(release.get('NAME') ?? fullName, id)
  const osrelease = releaseOf(release, lsb, files.centosRelease)
  return {
    ...lsb,
    os,
    os_family: osFamily(os, release.get('ID_LIKE') ?? ''),
    osfullname: fullName,
    oscodename: codenameOf(release, lsb),
    ...(osrelease && { osrelease, ...versionGrains(os, fullName, osrelease) }),
  }
}

function fullNameOf(release: Pairs): string | undefined {
  if (release.get('NAME') === 'openSUSE Leap') return 'Leap'
  return release.get('VERSION') === 'Tumbleweed' ? 'Tumbleweed' : release.get('NAME')
}

const isSuse = (release: Pairs): boolean =>
  /^cpe:[^:]*:(?:2\.3:o:)?(open)?suse:/i.test(release.get('CPE_NAME') ?? '')

type Lsb = Partial<
  Record<
    'lsb_distrib_id' | 'lsb_distrib_release' | 'lsb_distrib_codename' | 'lsb_distrib_description',
    string
  >
>

// Without DISTRIB_ID in /etc/lsb-release, os-release is used.
function lsbGrains(lsb: Pairs, release: Pairs): Lsb {
  if (lsb.has('DISTRIB_ID')) {
    return Object.fromEntries(
      [...lsb]
        .filter(([key]) => key.startsWith('DISTRIB_'))
        .map(([key, value]) => [`lsb_${key.toLowerCase()}`, value]),
    )
  }
  const codename = release.get('VERSION_CODENAME') ?? release.get('PRETTY_NAME')
  return {
    ...(release.has('NAME') && { lsb_distrib_id: release.get('NAME')! }),
    ...(release.has('VERSION_ID') && { lsb_distrib_release: release.get('VERSION_ID')! }),
    ...(codename !== undefined && { lsb_distrib_codename: codename }),
  }
}

// os-release has only the major version on CentOS Linux; on Mendel it has the version only in PRETTY_NAME.
function releaseOf(release: Pairs, lsb: Lsb, centosRelease: string | undefined): string | undefined {
  const centos = release.get('ID') === 'centos' ? /\d+\.[\d.]+/.exec(centosRelease ?? '')?.[0] : undefined
  const pretty = release.get('ID') === 'mendel' ? release.get('PRETTY_NAME')?.split(' ')[2] : undefined
  return centos ?? lsb.lsb_distrib_release ?? release.get('VERSION_ID') ?? pretty
}

// Some distributions have the code name only in brackets.
function codenameOf(release: Pairs, lsb: Lsb): string | undefined {
  const own = release.get('VERSION_CODENAME')
  if (own) return own
  if (release.get('ID') === 'astra') return release.get('VARIANT_ID')
  const named = lsb.lsb_distrib_codename || release.get('PRETTY_NAME')
  const inBrackets = /\((.+)\)/.exec(release.get('VERSION') ?? named ?? '')?.[1]
  return inBrackets ?? named
}

function versionGrains(os: string, fullName: string, osrelease: string): Record<string, unknown> {
  const info = osrelease.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const name = ['Debian', 'Raspbian'].includes(os) ? os : fullName
  const version = ['Ubuntu', 'Pop'].includes(os) ? osrelease : info[0]
  return {
    osrelease_info: info,
    ...(typeof info[0] === 'number' && { osmajorrelease: info[0] }),
    osfinger: `${name}-${version}`,
  }
}

/** Parse `NAME="value"` lines as a shell does. */
function shellPairs(text: string): Map<string, string> {
  const pairs = [...pairsIn(text, '=')].map(([key, value]): [string, string] => [key, unquoted(value)])
  return new Map(pairs.filter(([, value]) => value !== ''))
}

function unquoted(value: string): string {
  const inner = /^"(.*)"$/.exec(value)?.[1] ?? /^'(.*)'$/.exec(value)?.[1]
  return (inner ?? value).replace(/\\([\\"$`'])/g, '$1').trim()
}
