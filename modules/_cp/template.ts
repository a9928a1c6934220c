import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { replaceFile } from '#internal'
import { isPlain } from '../_values/template.ts'
import { cacheUrl, type FetchOptions } from './fetch.ts'
import { environment, externalCopy } from './places.ts'

/** Refuse what only a template engine could render. Texts for Jinja that have none of its marks are themselves. */
export function refuseTemplate(template: string | undefined, ...texts: readonly string[]): void {
  if (!template || (template === 'jinja' && texts.every(isPlain))) return
  throw new CommandExecutionError(
    `The template ${template} cannot be rendered: salt-ts has no renderers. Use cp.get_file without template to copy the file as it is.`,
  )
}

/** The mode of a new file, as in Salt, since what is rendered may contain secrets. */
const RENDERED_MODE = 0o600

/** Copy a file that needs no rendering to `dest`, or into the cache, and return its path; an empty text if it is not there. */
export async function copyTemplate(
  url: string,
  dest: string,
  { template, makedirs, ...options }: FetchOptions & { readonly template: string },
  context: Context,
): Promise<string> {
  const cached = await cacheUrl(url, options, context)
  if (typeof cached !== 'string' || !(await isFile(cached))) return ''
  const content = await readFile(cached)
  refuseTemplate(template, content.toString('latin1'))
  const place = dest || externalCopy(url, environment(context, options.saltenv), context)
  if (place === undefined || !isAbsolute(place))
    throw new CommandExecutionError(`The absolute path of a file must be given, not '${dest}'`)
  if (makedirs || dest === '') await mkdir(dirname(place), { recursive: true })
  else if (!(await stat(dirname(place)).catch(() => undefined))?.isDirectory()) return ''
  await replaceFile(place, content, RENDERED_MODE)
  return place
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false
