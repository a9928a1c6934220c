import { CommandExecutionError, type Context } from 'salt-ts'
import { append } from '../_pkg/group.ts'
import { runProgram } from '../_program/run.ts'
import { nameWithArch, splitArch } from './arch.ts'
import { compareRpmVersions } from './version.ts'

/** An installed version of a package. */
export interface Installed {
  readonly epoch: string | null
  readonly version: string
  readonly release: string | null
  readonly arch: string
  readonly install_date: string | null
  readonly install_date_time_t: number | null
}
/** Installed versions by package, the earliest first. */
export type InstalledByName = Readonly<Record<string, readonly Installed[]>>

/** Which packages to list, and how. */
export interface ListOptions {
  /** Another root folder than `/`. */
  readonly root?: string | undefined
  /** Take the list that was read before in this job. */
  readonly useContext?: boolean
}

const KEY = 'pkg.list_pkgs'
const FIELDS = ['NAME', 'EPOCHNUM', 'VERSION', 'RELEASE', 'ARCH', 'INSTALLTIME']
export const FORMAT = `${FIELDS.map((name) => `%{${name}}`).join('_|-')}\\n`

/** Return the options that make rpm work on another root folder. */
export const inRoot = (root: string | undefined): string[] => (root ? ['--root', root] : [])

/** Read the database of rpm. */
export async function readInstalled(
  context: Context,
  { root, useContext = true }: ListOptions = {},
): Promise<InstalledByName> {
  const key = `${KEY}_${root ?? '/'}`
  const kept = context.context.get(key) as InstalledByName | undefined
  if (kept && useContext) return kept
  const words = [...inRoot(root), '-qa', '--nodigest', '--nosignature', '--queryformat', FORMAT]
  const { retcode, stdout, stderr } = await runProgram(['rpm', ...words], context, { quiet: true })
  if (retcode !== 0) throw new CommandExecutionError(`The packages cannot be listed: ${stderr || stdout}`)
  const found: Record<string, Installed[]> = {}
  for (const line of stdout.split('\n')) {
    const one = parseInstalled(line, context.grains)
    if (one) append(found, one.name, one.installed)
  }
  for (const versions of Object.values(found))
    versions.sort((a, b) => compareRpmVersions(fullVersion(a), fullVersion(b)))
  context.context.set(key, found)
  return found
}

/** Forget what was read, after a change. */
export function forgetInstalled({ context }: Context): void {
  for (const key of [...context.keys()]) if (key.startsWith('pkg.list_p')) context.delete(key)
}

/** Parse a line in {@link FORMAT}. */
export function parseInstalled(
  line: string,
  grains: Context['grains'],
): { readonly name: string; readonly installed: Installed } | undefined {
  const [name, epoch = '', version, release, arch = '', time] = line.split('_|-')
  if (!name || version === undefined || release === undefined) return undefined
  const seconds = /^[1-9]\d*$/.test(time ?? '') ? Number(time) : null
  const installed = {
    epoch: ['0', '(none)', ''].includes(epoch) ? null : epoch,
    version,
    release: release || null,
    arch,
    install_date: seconds === null ? null : isoTime(seconds),
    install_date_time_t: seconds,
  }
  return { name: nameWithArch(name, arch, grains), installed }
}

/** Write a time as `2024-01-02T03:04:05Z`. */
export const isoTime = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** Return a version as `epoch:version-release`, without what is missing. */
export const fullVersion = ({ epoch, version, release }: Installed): string =>
  `${epoch === null ? '' : `${epoch}:`}${version}${release === null ? '' : `-${release}`}`

/** Versions by package, as texts. */
export async function listVersions(
  context: Context,
  options: ListOptions = {},
): Promise<Record<string, string[]>> {
  const found = Object.entries(await readInstalled(context, options))
  return Object.fromEntries(found.map(([name, versions]) => [name, versions.map(fullVersion)]))
}

/** Versions by package, several as one text with commas. */
export async function listJoined(
  context: Context,
  options: ListOptions = {},
): Promise<Record<string, string>> {
  const listed = Object.entries(await listVersions(context, options))
  return Object.fromEntries(listed.map(([name, versions]) => [name, versions.join(',')]))
}

/** List the packages with these attributes (`all` for all), or without any as texts. */
export async function listAttributes(
  attr: readonly string[],
  context: Context,
  options: ListOptions = {},
): Promise<Record<string, unknown>> {
  return attr.length === 0
    ? listJoined(context, options)
    : withAttributes(await readInstalled(context, options), attr)
}

/** Show packages with these attributes of each version. Names are without the architecture, which is an attribute. */
export function withAttributes(
  found: InstalledByName,
  attr: readonly string[],
): Record<string, Partial<Installed>[]> {
  const chosen = new Set([...attr, 'version', 'arch'])
  const shown: Record<string, Partial<Installed>[]> = {}
  for (const [name, versions] of Object.entries(found))
    for (const one of versions) {
      const split = splitArch(name)
      const kept = Object.entries(one).filter(([key]) => attr.includes('all') || chosen.has(key))
      append(shown, split.arch === one.arch ? split.name : name, Object.fromEntries(kept))
    }
  return shown
}
