/** Renders templates of Jinja with what Salt gives to each of them. */
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { CommandExecutionError, type Context, fromRecordJson } from 'salt-ts'
import {
  builtInFiltersAndTests,
  Callable,
  type Environment,
  globals,
  render,
  TemplateError,
} from '../_jinja/index.ts'
import { fromYaml } from '../_slsutil/yaml.ts'
import { errorMessage } from './error-message.ts'
import type { RenderOptions } from './index.ts'
import { callFunction, saltFunctions } from './salt-functions.ts'

/**
 * Render a text as a template of Jinja.
 * @throws CommandExecutionError with what is wrong, and at which line
 */
export async function renderJinja(
  source: string,
  { saltenv, variables = {} }: RenderOptions,
  context: Context,
): Promise<string> {
  const { opts, pillar, grains, call } = context
  const ifelse = new Callable('ifelse', (given) => callFunction(call, 'match.ifelse', given))
  const names = { salt: saltFunctions(context), pillar, grains, opts, saltenv, ifelse, ...variables }
  const environment = environmentOf(new Map([...globals, ...Object.entries(names)]), saltenv, context)
  try {
    const text = await render(source, environment)
    // Jinja drops the last line break of a template, and Salt restores it.
    return source.endsWith('\n') ? `${text}\n` : text
  } catch (error) {
    if (error instanceof TemplateError)
      throw new CommandExecutionError(errorMessage(error, source), { cause: error })
    throw error
  }
}

function environmentOf(names: ReadonlyMap<string, unknown>, saltenv: string, context: Context): Environment {
  const { opts, signal, call } = context
  const given: object = typeof opts.jinja_env === 'object' && opts.jinja_env ? opts.jinja_env : {}
  const { trim_blocks, lstrip_blocks, ...others } = given as Record<string, unknown>
  const refused = Object.keys(others)
  if (refused.length > 0)
    throw new CommandExecutionError(
      `The option jinja_env takes trim_blocks and lstrip_blocks, not ${refused.join(', ')}.`,
    )
  return {
    ...builtInFiltersAndTests,
    globals: names,
    whiteSpace: {
      trim_blocks: trim_blocks === true || opts.jinja_trim_blocks === true,
      lstrip_blocks: lstrip_blocks === true || opts.jinja_lstrip_blocks === true,
    },
    allowsUndefined: opts.allow_undefined === true,
    load: (name, from) => fromServer(name, from, saltenv, context),
    parseData: (text, format) =>
      format === 'yaml' ? fromYaml(text) : format === 'json' ? fromRecordJson(text) : text,
    callFunction: (name, values) => callFunction(call, name, values),
    signal,
  }
}

/** Other templates are on the file server; names that begin with a dot are beside the one that names them. */
async function fromServer(
  name: string,
  from: string | undefined,
  saltenv: string,
  { call }: Context,
): Promise<string | undefined> {
  const isRelative = /^\.\.?\//.test(name)
  const folder = posix.dirname(from?.replace(/^salt:\/\//, '') ?? '')
  const path = isRelative ? posix.join(folder, name) : name
  const cached = await call('cp.cache_file', {
    path: path.startsWith('salt://') ? path : `salt://${path}`,
    saltenv,
  })
  return typeof cached === 'string' && cached !== '' ? readFile(cached, 'utf8') : undefined
}
