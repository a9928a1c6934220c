import type { Host } from '../_facts/host.ts'
import { pairsIn } from '../_facts/pairs.ts'
import { osFamily, osName } from './names.ts'

type Pairs = ReadonlyMap<string, string>

/** Contents of the files that identify the distribution; tests pass their own. */
interface ReleaseFiles {
  readonly osRelease: string | undefined
  readonly lsbRelease: string | undefined
  /** The line of a file such as /etc/redhat-release. */
  readonly ownRelease: string | undefined
  readonly debianVersion: string | undefined
}

export function readReleaseFiles(host: Host): ReleaseFiles {
  const [etc, usr, lsbRelease, ownRelease, debianVersion] = [
    host.text('/etc/os-release'),
    host.text('/usr/lib/os-release'),
    host.text('/etc/lsb-release'),
    readOwnRelease(host),
    host.line('/etc/debian_version'),
  ]
  return { osRelease: etc ?? usr, lsbRelease, ownRelease, debianVersion }
}

const OF_ALL_SYSTEMS = ['lsb-release', 'os-release', 'system-release']

function readOwnRelease(host: Host): string | undefined {
  const names = host.names('/etc').filter((name) => /^\w+[-_](release|version)$/.test(name))
  for (const name of names) {
    if (OF_ALL_SYSTEMS.includes(name) || name === 'debian_version') continue
    const line = host.line(`/etc/${name}`)?.split('\n')[0]
    if (line !== undefined && namedVersion(line).version !== '') return line
  }
  return undefined
}

/** Return the grains `os`, `os_family`, `osrelease` and related ones, with Salt's names of systems. */
export function distribution(files: ReleaseFiles): Record<string, unknown> {
  const release = shellPairs(files.osRelease ?? '')
  const lsb = lsbGrains(shellPairs(files.lsbRelease ?? ''), release)
  const fullName = fullNameOf(release) ?? lsb.lsb_distrib_id
  if (fullName === undefined) return { os: 'Linux', os_family: 'Unknown', osfullname: 'Linux', ...lsb }
  const os = isSuse(release) ? 'SUSE' : osName(release.get('NAME') ?? fullName, release.get('ID') ?? 'linux')
  // Alone in this family, these have a sentence with the name in brackets.
  const inBrackets = /Rocky|AlmaLinux|AstraLinuxSE/.test(os) ? codeNameInBrackets(os, lsb) : {}
  const named = { ...lsb, ...inBrackets }
  // The os-release of CentOS Linux has its major version only.
  const isCentOs = /CentOS Linux [78]/.test(lsb.lsb_distrib_codename ?? '')
  const { lsb_distrib_release, ...unversioned } = named
  const osrelease = (isCentOs ? undefined : lsb_distrib_release) ?? bestVersion(files, release)
  return {
    ...(isCentOs ? unversioned : named),
    os,
    os_family: osFamily(os, release.get('ID_LIKE') ?? ''),
    osfullname: fullName,
    oscodename: codeName(files, release, named),
    osrelease,
    ...(osrelease && versionGrains(os, fullName, osrelease)),
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

const LSB_KEYS = ['DISTRIB_ID', 'DISTRIB_RELEASE', 'DISTRIB_CODENAME', 'DISTRIB_DESCRIPTION']

// Without DISTRIB_ID in /etc/lsb-release, os-release is used.
function lsbGrains(lsb: Pairs, release: Pairs): Lsb {
  if (lsb.get('DISTRIB_ID')) {
    const known = LSB_KEYS.filter((key) => lsb.get(key))
    return Object.fromEntries(known.map((key) => [`lsb_${key.toLowerCase()}`, lsb.get(key)!]))
  }
  const codename = release.get('VERSION_CODENAME') ?? release.get('PRETTY_NAME')
  // Mendel has its version in PRETTY_NAME alone.
  const pretty = release.get('ID') === 'mendel' ? release.get('PRETTY_NAME')?.split(' ')[2] : undefined
  const version = release.get('VERSION_ID') ?? pretty
  return {
    ...(release.has('NAME') && { lsb_distrib_id: release.get('NAME')! }),
    ...(version !== undefined && { lsb_distrib_release: version }),
    ...(codename !== undefined && { lsb_distrib_codename: codename }),
  }
}

function codeNameInBrackets(os: string, { lsb_distrib_codename: text = '' }: Lsb): Lsb {
  const inner = /\(([^)]*)/.exec(text)?.[1]
  if (inner === undefined) return {}
  return { lsb_distrib_codename: os === 'AstraLinuxSE' ? inner.split(' ')[0]!.toLowerCase() : inner }
}

function codeName(files: ReleaseFiles, release: Pairs, { lsb_distrib_codename: name = '' }: Lsb): string {
  if (name.trim() && !name.includes('Red Hat')) return name.trim()
  const inVersion = /\(([^\d)]+)\)|,\s*(\D+)/.exec(release.get('VERSION') ?? '')
  const own = release.get('VERSION_CODENAME') ?? release.get('UBUNTU_CODENAME')
  return own ?? inVersion?.[1] ?? inVersion?.[2] ?? namedVersion(files.ownRelease ?? '').codename
}

/** Return the most precise version, the one with the most dots, of all files. */
function bestVersion({ ownRelease, debianVersion }: ReleaseFiles, release: Pairs): string {
  const isDebian = [release.get('ID'), ...(release.get('ID_LIKE') ?? '').split(' ')].includes('debian')
  const versions = [
    release.get('VERSION_ID') ?? '',
    namedVersion(ownRelease ?? '').version,
    namedVersion(release.get('PRETTY_NAME') ?? '').version,
    isDebian ? (debianVersion ?? '') : '',
  ]
  const dots = (version: string) => version.split('.').length
  return versions.reduce((best, version) => (best === '' || dots(version) > dots(best) ? version : best))
}

/** Read the version and the code name of a line such as `CentOS Linux release 7.9.2009 (Core)`. */
function namedVersion(line: string): { version: string; codename: string } {
  const [, version = '', codename = ''] = /\s(\d[\w.+-]*)(?:\s+LTS)?\s*(?:\((.*)\))?\s*$/.exec(line) ?? []
  return { version, codename }
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
  return new Map([...pairsIn(text, '=')].map(([key, value]) => [key, unquoted(value)]))
}

function unquoted(value: string): string {
  const inner = /^"(.*)"$/.exec(value)?.[1] ?? /^'(.*)'$/.exec(value)?.[1]
  return (inner ?? value).replace(/\\([\\"$`'])/g, '$1').trim()
}
