/** Renders templates of Jinja with what Salt gives to each of them. */
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { CommandExecutionError, type Context, fromRecordJson } from 'salt-ts'
import {
  builtIn,
  CalledFunctionError,
  type Environment,
  globals,
  render,
  TemplateError,
  TemplateSyntaxError,
  UndefinedError,
} from '../_jinja/index.ts'
import { fromYaml } from '../_slsutil/yaml.ts'
import type { Rendering } from './index.ts'
import { saltFunctions } from './salt-functions.ts'

/**
 * Render a text as a template of Jinja.
 * @throws CommandExecutionError with what is wrong, and at which line
 */
export async function renderJinja(
  source: string,
  { saltenv, variables = {} }: Rendering,
  context: Context,
): Promise<string> {
  const { opts, pillar, grains } = context
  const given = { salt: saltFunctions(context), pillar, grains, opts, saltenv, ...variables }
  const environment = environmentOf(new Map([...globals, ...Object.entries(given)]), saltenv, context)
  try {
    const text = await render(source, environment)
    return source.endsWith('\n') ? `${text}\n` : text
  } catch (error) {
    if (error instanceof TemplateError)
      throw new CommandExecutionError(sentence(error, source), { cause: error })
    throw error
  }
}

function environmentOf(names: ReadonlyMap<string, unknown>, saltenv: string, context: Context): Environment {
  const { opts, signal } = context
  const given: object = typeof opts.jinja_env === 'object' && opts.jinja_env ? opts.jinja_env : {}
  const { trim_blocks, lstrip_blocks, ...others } = given as Record<string, unknown>
  const refused = Object.keys(others)
  if (refused.length > 0)
    throw new CommandExecutionError(
      `The option jinja_env takes trim_blocks and lstrip_blocks, not ${refused.join(', ')}.`,
    )
  return {
    ...builtIn,
    globals: names,
    whiteSpace: {
      trim_blocks: trim_blocks === true || opts.jinja_trim_blocks === true,
      lstrip_blocks: lstrip_blocks === true || opts.jinja_lstrip_blocks === true,
    },
    allowsUndefined: opts.allow_undefined === true,
    load: (name, from) => fromServer(name, from, saltenv, context),
    parseData: (text, format) =>
      format === 'yaml' ? fromYaml(text) : format === 'json' ? fromRecordJson(text) : text,
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

/** Say what is wrong as Salt does: with the lines around. */
function sentence(error: TemplateError, source: string): string {
  const { line, template } = error
  const said = `${kindOf(error)}${error.message}`
  if (line === undefined) return said
  if (template !== undefined) return `${said}; line ${line} of ${template}`
  return `${said}; line ${line}\n\n${linesAround(source, line)}`
}

function kindOf(error: TemplateError): string {
  if (error instanceof UndefinedError) return 'Jinja variable '
  if (error instanceof TemplateSyntaxError) return 'Jinja syntax error: '
  if (error instanceof CalledFunctionError) return 'Problem running salt function in Jinja template: '
  return 'Jinja error: '
}

const LINES_AROUND = 5

function linesAround(source: string, line: number): string {
  const lines = source.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const start = Math.max(line - LINES_AROUND - 1, 0)
  const end = Math.min(line + LINES_AROUND, lines.length)
  const shown = lines.slice(start, end)
  shown[line - start - 1] += '    <======================'
  const parts = [...(start > 0 ? ['[...]'] : []), ...shown, ...(end < lines.length ? ['[...]'] : [])]
  return `---\n${parts.join('\n')}\n---`
}
