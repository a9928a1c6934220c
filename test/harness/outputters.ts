import type { OutputOptions, Outputter } from '../../core/author/kinds.ts'

/** The text one outputter plugin makes of a value; colour off unless asked for. */
export async function render(
  name: string,
  value: unknown,
  options: Partial<OutputOptions> = {},
): Promise<string> {
  const file = new URL(`../../plugins/outputters/${name}.ts`, import.meta.url).href
  const module = (await import(file)) as { default: Outputter }
  return module.default.render(value, { color: false, ...options })
}
