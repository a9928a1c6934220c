import type { Context } from 'salt-ts'
import type { Versions } from '../_pkg/changes.ts'
import { field, readApt } from './command.ts'

/** Versions by package. */
type Listed = Record<string, string[]>
interface Known {
  readonly installed: Listed
  readonly removed: Listed
  readonly purgeDesired: Listed
}
interface Which {
  readonly removed?: boolean
  readonly purge_desired?: boolean
}

const KEY = 'pkg.list_pkgs'
const FORMAT = `${['Status', 'Package', 'Version', 'Architecture'].map(field).join(' ')}\n`

/** List installed packages; with `removed` those whose configuration is left, with `purge_desired` those to be purged. */
export async function listVersions(which: Which, context: Context, useContext = true): Promise<Listed> {
  const known = await knownPackages(context, useContext)
  if (which.removed) return known.removed
  return which.purge_desired ? known.purgeDesired : { ...known.purgeDesired, ...known.installed }
}

/** As {@link listVersions}, with the versions of a package as one text. */
export async function listInstalled(which: Which, context: Context, useContext = true): Promise<Versions> {
  return joined(await listVersions(which, context, useContext))
}

/** List anew what is installed after a change. */
export function listAgain(which: Which, context: Context): Promise<Versions> {
  context.context.delete(KEY)
  return listInstalled(which, context)
}

const joined = (listed: Listed): Versions =>
  Object.fromEntries(Object.entries(listed).map(([name, versions]) => [name, versions.join(',')]))

async function knownPackages(context: Context, useContext: boolean): Promise<Known> {
  const kept = context.context.get(KEY) as Known | undefined
  if (kept && useContext) return kept
  const { stdout } = await readApt(['dpkg-query', '--showformat', FORMAT, '-W'], context)
  const known = parsed(stdout, context.grains)
  context.context.set(KEY, known)
  return known
}

function parsed(text: string, grains: Context['grains']): Known {
  const known: Known = { installed: {}, removed: {}, purgeDesired: {} }
  for (const line of text.split('\n')) {
    const [want = '', , status, plain, version, arch] = line.split(/\s+/)
    if (status === undefined || plain === undefined || version === undefined || arch === undefined) continue
    const list = listFor(want, status, known)
    const name = nameWithArch(plain, arch, grains)
    if (list) list[name] = [...new Set([...(list[name] ?? []), version])].sort()
  }
  return known
}

function listFor(want: string, status: string, known: Known): Listed | undefined {
  if (/install|hold/.test(want) && status.includes('installed')) return known.installed
  if (want === 'deinstall') return known.removed
  return want === 'purge' && status === 'installed' ? known.purgeDesired : undefined
}

/** Return the name of a package; one of another architecture than that of this system has its architecture in it. */
export function nameWithArch(name: string, arch: string, { cpuarch, osarch }: Context['grains']): string {
  const foreign = cpuarch === 'x86_64' && osarch === 'amd64' && arch !== 'all' && arch !== osarch
  return foreign ? `${name}:${arch}` : name
}

/** Remove the architecture from a name if it is that of this system. */
export function withoutNativeArch(name: string, { osarch }: Context['grains']): string {
  const at = name.lastIndexOf(':')
  if (at < 0) return name
  return [osarch, 'all', 'any'].includes(name.slice(at + 1)) ? name.slice(0, at) : name
}
