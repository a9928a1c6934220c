/** Options for outputters, from the flags and from the configuration, which flags override. */
import { readFileSync } from 'node:fs'
import type { OutputOptions } from '../../author/kinds.ts'
import { messageOf } from '../../base/errors.ts'
import { printNote } from './console.ts'
import type { OutputFlags } from './printer.ts'

type Config = Readonly<Record<string, unknown>>

export async function outputOptions(flags: OutputFlags, config: Config): Promise<OutputOptions> {
  const color = wantsColor(flags, config)
  const theme =
    color && typeof config.color_theme === 'string' ? await readTheme(config.color_theme) : undefined
  return {
    ...tableOptions(config),
    ...knownOptions(config),
    ...indentOf(flags, config),
    color,
    ...(theme && { theme }),
    terminal: flags['out-file'] === undefined && process.stdout.isTTY === true,
  }
}

function wantsColor(flags: OutputFlags, config: Config): boolean {
  if (flags['force-color']) return true
  if (flags['no-color'] || flags['out-file'] !== undefined || process.env.NO_COLOR || config.color === false)
    return false
  return process.stdout.isTTY === true
}

/** Return the indentation: a number, or a word that only one outputter understands (`pretty`). */
function indentOf(flags: OutputFlags, config: Config): { indent?: number | null } {
  const given = flags['out-indent'] ?? config.output_indent
  if (given === undefined) return {}
  const number = Number(given)
  return { indent: (given !== null && Number.isInteger(number) ? number : given) as number }
}

/** Return Salt's `out.table.*` options without their prefix. */
function tableOptions(config: Config): Record<string, unknown> {
  const own = Object.entries(config).filter(([key]) => key.startsWith('out.table.'))
  return Object.fromEntries(own.map(([key, value]) => [key.slice('out.table.'.length), value]))
}

function knownOptions(config: Config): Record<string, unknown> {
  const own = Object.entries(config).filter(
    ([key]) => key.startsWith('state_') || key === 'strip_colors' || key === 'nested_indent',
  )
  return Object.fromEntries(own)
}

/** Read a colour theme: a map of Salt's colour names (LIGHT_RED) to terminal codes (`0;1;31`). */
async function readTheme(path: string): Promise<Record<string, string> | undefined> {
  const { parseYaml } = await import('../../config/yaml.ts')
  try {
    const codes = parseYaml(readFileSync(path, 'utf8'))
    if (typeof codes !== 'object' || codes === null || Array.isArray(codes))
      throw new Error('it does not contain a map')
    return Object.fromEntries(Object.entries(codes).map(([name, code]) => [colorName(name), String(code)]))
  } catch (error) {
    printNote(
      `WARNING: The colours of color_theme (${path}) cannot be read: ${messageOf(error)}. The default colours are used.`,
    )
    return undefined
  }
}

const colorName = (name: string): string =>
  name === 'ENDC' ? 'end' : name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
