import { CommandExecutionError, type Context } from 'salt-ts'
import { plainNames } from '../_pkg/names.ts'
import { childOf } from '../_values/xml.ts'
import { zypperElements } from './run.ts'

export interface DownloadedFile {
  readonly 'repository-name': string
  readonly 'repository-alias': string
  readonly path: string
}

/** Download packages: name → file; `_error` names those that could not be downloaded. */
export async function downloadPackages(
  names: readonly string[],
  root: string | undefined,
  context: Context,
): Promise<Record<string, DownloadedFile | string>> {
  const results = await zypperElements('download-result', ['download', ...plainNames(names)], context, {
    root,
  })
  const files = results.map((result): [string, DownloadedFile] => {
    const repository = childOf(result, 'repository')?.attributes
    const file = {
      'repository-name': repository?.name ?? '',
      'repository-alias': repository?.alias ?? '',
      path: childOf(result, 'localfile')?.attributes.path ?? '',
    }
    return [childOf(result, 'name')?.text ?? '', file]
  })
  if (files.length === 0) throw new CommandExecutionError(`Unable to download packages: ${names.join(', ')}`)
  const found = Object.fromEntries(files)
  const failed = names.filter((name) => !Object.hasOwn(found, name))
  if (failed.length === 0) return found
  return { ...found, _error: `The following package(s) failed to download: ${failed.join(', ')}` }
}
