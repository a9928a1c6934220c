import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { packageName } from '../_pkg/names.ts'
import { field, readApt } from './command.ts'

export type PackageInfo = Record<string, string>

/** Fields of a package, by the name under which they are returned. */
const FIELDS = {
  package: 'Package',
  revision: 'binary:Revision',
  architecture: 'Architecture',
  maintainer: 'Maintainer',
  summary: 'Summary',
  source: 'source:Package',
  version: 'Version',
  section: 'Section',
  size: 'Size',
  MD5: 'MD5sum',
  SHA1: 'SHA1',
  SHA256: 'SHA256',
  origin: 'Origin',
  homepage: 'Homepage',
  status: 'db:Status-Abbrev',
  description: 'Description',
}
const FIELD_END = '\x1f'
const PACKAGE_END = '\x1e'
const FORMAT = `${Object.values(FIELDS).map(field).join(FIELD_END)}${PACKAGE_END}`

/** Return what the database of dpkg has on packages, or on all. */
export async function packageInfos(
  names: readonly string[],
  failhard: boolean,
  context: Context,
): Promise<Record<string, PackageInfo>> {
  const { retcode, stdout, stderr } = await readApt(
    ['dpkg-query', '-W', `-f=${FORMAT}`, ...names.map(packageName)],
    context,
  )
  if (retcode !== 0) {
    if (failhard) throw new CommandExecutionError(`Error getting packages information: ${stderr}`)
    return {}
  }
  const infos: Record<string, PackageInfo> = {}
  for (const record of stdout.split(PACKAGE_END).filter((text) => text.trim() !== '')) {
    const values = record.split(FIELD_END)
    const fields = Object.keys(FIELDS).map((key, index) => [key, (values[index] ?? '').trim()])
    const info: PackageInfo = Object.fromEntries(
      fields.filter(([key, value]) => value !== '' || key === 'description'),
    )
    if (info.description !== undefined) info.description += '\n'
    if (info.package) infos[info.package] = await withDates(info.package, info)
  }
  return infos
}

/** Names that all package modules use, by that of dpkg. The status is left out, since all are installed. */
const COMMON: Readonly<Record<string, string | undefined>> = {
  package: 'name',
  origin: 'vendor',
  section: 'group',
  maintainer: 'packager',
  homepage: 'url',
}

/** Return what the database of dpkg has on installed packages, under the names that all package modules use. */
export async function installedInfos(
  names: readonly string[],
  failhard: boolean,
  context: Context,
): Promise<Record<string, PackageInfo>> {
  const infos = Object.entries(await packageInfos(names, failhard, context))
  const installed = infos.filter(([, { status = 'ii' }]) => status[1] === 'i')
  return Object.fromEntries(installed.map(([name, info]) => [name, withCommonNames(info)]))
}

const withCommonNames = ({ status: _, ...info }: PackageInfo): PackageInfo =>
  Object.fromEntries(Object.entries(info).map(([key, value]) => [COMMON[key] ?? key, value]))

async function withDates(name: string, info: PackageInfo): Promise<PackageInfo> {
  const installed = await installTime(name)
  const license = await licenseOf(name)
  return { ...info, ...(installed && { install_date: installed }), ...(license && { license }) }
}

async function installTime(name: string): Promise<string | undefined> {
  const folder = process.env.DPKG_ADMINDIR ?? '/var/lib/dpkg'
  const found = await stat(join(folder, 'info', `${name}.list`)).catch(() => undefined)
  return found && `${new Date(found.mtimeMs).toISOString().slice(0, 19)}Z`
}

async function licenseOf(name: string): Promise<string> {
  const text = await readFile(`/usr/share/doc/${name}/copyright`, 'utf8').catch(() => '')
  const licenses = [...text.matchAll(/^License:(.*)$/gm)].map(([, license = '']) => license.trim())
  return [...new Set(licenses)].sort().join(', ')
}

const TEXT_ERROR = 'Error:  '

/** List the files of packages, by package. Returns Salt's text if dpkg reports an error. */
export async function packageFiles(
  names: readonly string[],
  context: Context,
): Promise<Record<string, string[]> | string> {
  const installed = await installedNames(names, context)
  if (typeof installed === 'string') return installed
  const files: Record<string, string[]> = {}
  for (const name of installed) {
    const { stdout, stderr } = await readApt(['dpkg', '-L', name], context)
    files[name] = (stdout || stderr).split('\n')
  }
  return files
}

async function installedNames(names: readonly string[], context: Context): Promise<string[] | string> {
  const versions = await installedVersions(names, context)
  return typeof versions === 'string' ? versions : Object.keys(versions)
}

/** List the versions of installed packages as dpkg names them. Returns Salt's text if dpkg reports an error. */
export async function installedVersions(
  names: readonly string[],
  context: Context,
): Promise<Record<string, string> | string> {
  const format = `-f=${['db:Status-Status', 'binary:Package', 'Version'].map(field).join('\t')}\n`
  const { retcode, stdout, stderr } = await readApt(
    ['dpkg-query', format, '-W', ...names.map(packageName)],
    context,
  )
  if (retcode !== 0) {
    context.log.error(TEXT_ERROR + stderr)
    return TEXT_ERROR + stderr
  }
  return Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const [status, name = '', version = ''] = line.split('\t')
      return status === 'installed' ? [[name, version]] : []
    }),
  )
}

/** Find the package that owns a path, or ''. */
export async function ownerOf(path: string, context: Context): Promise<string> {
  const { stdout } = await readApt(['dpkg', '-S', '--', path], context)
  return stdout.split(':')[0] ?? ''
}
