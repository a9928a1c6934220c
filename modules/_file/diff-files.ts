import { CommandExecutionError, type Context } from 'salt-ts'
import { type DiffOptions, diffBetween } from './compare.ts'

interface Options extends DiffOptions {
  readonly saltenv: string
  readonly show_filenames: boolean
}

/** Return the diff of two files, which may be on the master or a web server. */
export async function diffOfFiles(
  files: readonly [string, string],
  hashes: readonly (string | undefined)[],
  { saltenv, show_filenames, ...options }: Options,
  context: Context,
): Promise<string> {
  const paths: string[] = []
  const missing: string[] = []
  for (const [at, file] of files.entries()) {
    const source_hash = hashes[at]
    const path = await context.call('cp.cache_file', {
      path: file,
      saltenv,
      ...(source_hash && { source_hash }),
    })
    if (typeof path === 'string' && path !== '') paths.push(path)
    else missing.push(`- File ${file} not found`)
  }
  if (missing.length > 0)
    throw new CommandExecutionError(
      `Failed to cache one or more files. Additional info follows:\n\n${missing.join('\n')}`,
    )
  const [before = '', after = ''] = paths
  return diffBetween(before, after, { ...options, names: show_filenames ? paths : undefined }, context)
}
