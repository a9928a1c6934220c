import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { type Downloaded, listPackageFiles } from '../_pkg/downloaded.ts'
import { plainNames } from '../_pkg/names.ts'
import { FORMAT, fullVersion, parseInstalled } from './installed.ts'
import { rpm } from './query.ts'

/** Name and version of a package file. */
export interface RpmFile {
  readonly name: string
  readonly version: string
  readonly arch: string
}

/** Read name, version and architecture of a package file; undefined if it is none. */
export async function fileInfo(path: string, context: Context): Promise<RpmFile | undefined> {
  plainNames([path])
  if (!(await stat(path).catch(() => undefined)))
    throw new CommandExecutionError(`${path} does not exist on minion`)
  if (!isAbsolute(path)) throw new SaltInvocationError(`${path} is not an absolute path; give the whole path`)
  const words = ['-qp', '--nodigest', '--nosignature', '--queryformat', FORMAT, path]
  const { stdout } = await rpm(words, undefined, context, { ignoreRetcode: true })
  const parsed = parseInstalled(stdout, context.grains)
  return parsed && { name: parsed.name, version: fullVersion(parsed.installed), arch: parsed.installed.arch }
}

/** List the package files below a folder, by name and version. */
export const listDownloaded = (folder: string, context: Context): Promise<Downloaded> =>
  listPackageFiles(folder, '.rpm', (path) => fileInfo(path, context))
