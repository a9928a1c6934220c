import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
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
  const { retcode, stdout, stderr } = await readApt(['dpkg-query', '-W', `-f=${FORMAT}`, ...names], context)
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
  const { retcode, stdout, stderr } = await readApt(['dpkg-query', format, '-W', ...names], context)
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
  const { stdout } = await readApt(['dpkg', '-S', path], context)
  return stdout.split(':')[0] ?? ''
}
