import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { replaceFile } from '#internal'
import { renderEach, renderTemplate, requireEngine } from '../_template/index.ts'
import { cacheUrl, type FetchOptions } from './fetch.ts'
import { environment, externalCopy } from './places.ts'

/** Render paths as templates, if an engine is named. */
export const renderPaths = (
  paths: readonly [string, string],
  { template, saltenv }: { readonly template?: string | undefined; readonly saltenv?: string | undefined },
  context: Context,
): Promise<readonly [string, string]> =>
  renderEach(paths, template, { saltenv: environment(context, saltenv) }, context)

/** The mode of a new file, as in Salt, since what is rendered may contain secrets. */
const RENDERED_MODE = 0o600

interface TemplateOptions extends FetchOptions {
  readonly template: string
  /** Variables of the template. */
  readonly kwargs: Readonly<Record<string, unknown>>
}

/** Render a file to `dest`, or into the cache, and return its path; an empty text if it is not there. */
export async function copyTemplate(
  url: string,
  dest: string,
  { template, makedirs, kwargs, ...options }: TemplateOptions,
  context: Context,
): Promise<string> {
  if (template) requireEngine(template)
  const cached = await cacheUrl(url, options, context)
  if (typeof cached !== 'string' || !(await isFile(cached))) return ''
  const content = await readFile(cached)
  const saltenv = environment(context, options.saltenv)
  const how = { saltenv, variables: kwargs }
  const rendered = template ? await renderTemplate(content.toString(), template, how, context) : content
  const place = dest || externalCopy(url, saltenv, context)
  if (place === undefined || !isAbsolute(place))
    throw new CommandExecutionError(`The absolute path of a file must be given, not '${dest}'`)
  if (makedirs || dest === '') await mkdir(dirname(place), { recursive: true })
  else if (!(await stat(dirname(place)).catch(() => undefined))?.isDirectory()) return ''
  await replaceFile(place, rendered, RENDERED_MODE)
  return place
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false
