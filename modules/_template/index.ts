/** Templates as functions of Salt render them. The engine is loaded when a template is rendered. */
import { CommandExecutionError, type Context } from 'salt-ts'

/** Engines of Salt that salt-ts does not have. */
const UNAVAILABLE_ENGINES = ['cheetah', 'genshi', 'mako', 'py', 'wempy']

export interface RenderOptions {
  readonly saltenv: string
  /** Names beside those that each template has: `salt`, `pillar`, `grains`, `opts` and `saltenv`. */
  readonly variables?: Readonly<Record<string, unknown>>
}

/** Whether Salt has a template engine, of which salt-ts may render only Jinja. */
export const isEngineOfSalt = (name: string): boolean =>
  name === 'jinja' || UNAVAILABLE_ENGINES.includes(name)

/**
 * Render a text as a template.
 * @throws CommandExecutionError with what is wrong, at which line, or if the engine is not Jinja
 */
export async function renderTemplate(
  source: string,
  engine: string,
  options: RenderOptions,
  context: Context,
): Promise<string> {
  requireEngine(engine)
  const { renderJinja } = await import('./render.ts')
  return renderJinja(source, options, context)
}

/** Render a text, or each text of a list, if an engine is named; other values stay as they are. */
export async function renderEach<T>(
  value: T,
  engine: string | undefined,
  options: RenderOptions,
  context: Context,
): Promise<T> {
  if (!engine) return value
  if (typeof value === 'string') return (await renderTemplate(value, engine, options, context)) as T
  if (!Array.isArray(value)) return value
  const rendered: unknown[] = []
  for (const each of value) rendered.push(await renderEach(each, engine, options, context))
  return rendered as T
}

/** @throws CommandExecutionError */
export function requireEngine(name: string): void {
  if (name === 'jinja') return
  throw new CommandExecutionError(
    UNAVAILABLE_ENGINES.includes(name)
      ? `The template engine ${name} is not available: salt-ts renders templates of Jinja.`
      : `Attempted to render a template with unavailable engine ${name}`,
  )
}
