import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { type Downloaded, listPackageFiles } from '../_pkg/downloaded.ts'
import { readApt } from './command.ts'
import { nameWithArch } from './installed.ts'

export interface DebFile {
  readonly name: string
  readonly version: string
  readonly arch: string
}

/** Read name, version and architecture of a package file. */
export async function fileInfo(path: string, context: Context): Promise<DebFile> {
  const exists = await stat(path).catch(() => undefined)
  if (!exists) throw new CommandExecutionError(`${path} does not exist on minion`)
  if (!isAbsolute(path)) throw new SaltInvocationError(`${path} is not an absolute path; give the whole path`)
  const { retcode, stdout, stderr } = await readApt(['dpkg', '-I', path], context)
  if (retcode !== 0)
    throw new CommandExecutionError(`Unable to get info for ${path}${stderr ? `: ${stderr}` : ''}`)
  const field = (key: string) => new RegExp(`^\\s*${key} *: *(\\S+)`, 'm').exec(stdout)?.[1]
  const found = { name: field('Package'), version: field('Version'), arch: field('Architecture') }
  const missing = Object.entries(found).flatMap(([key, value]) => (value === undefined ? [key] : []))
  if (missing.length > 0) throw new CommandExecutionError(`Unable to get ${missing.join(', ')} for ${path}`)
  const { name = '', version = '', arch = '' } = found
  return { name: nameWithArch(name, arch, context.grains), version, arch }
}

/** List the package files below a folder, by name and version. */
export const listDownloaded = (folder: string, context: Context): Promise<Downloaded> =>
  listPackageFiles(folder, '.deb', (path) => fileInfo(path, context))
