/** Salt's colours, and text made safe for a terminal. */
import type { OutputOptions } from 'salt-ts'

const CODES = {
  blue: '0;34',
  cyan: '0;36',
  darkGray: '0;1;30',
  green: '0;32',
  lightBlue: '0;1;34',
  lightGray: '0;37',
  lightGreen: '0;1;32',
  lightMagenta: '0;1;35',
  lightRed: '0;1;31',
  lightYellow: '0;1;33',
  magenta: '0;35',
  red: '0;31',
  white: '0;1;37',
} as const

export type Color = keyof typeof CODES
export type Paint = (color: Color, text: string) => string

/** Codes that turn a colour on, or colours off (`end`). Empty if colours are off. */
export type Codes = Readonly<Record<Color | 'end', string>>

/** Return the codes. `theme` replaces codes of colours; it is the content of Salt's `color_theme`. */
export function codesOf({ color, theme }: OutputOptions): Codes {
  const all = { ...CODES, end: '0;0', ...(theme as Partial<Record<Color, string>>) }
  return Object.fromEntries(
    Object.entries(all).map(([name, code]) => [name, color ? `\x1b[${code}m` : '']),
  ) as Codes
}

/** Return the function that colours text, or leaves it as it is if colours are off. */
export function painter(options: OutputOptions): Paint {
  const codes = codesOf(options)
  return options.color ? (name, text) => codes[name] + text + codes.end : (_, text) => text
}

export type Screen = (text: string, what?: 'key') => string

/**
 * Return the function that makes text harmless: ESC is shown as `?`, as in Salt, and on a terminal every control character but
 * tab and line feed. With `strip_colors: false` it changes nothing.
 */
export function screen({ terminal, strip_colors }: OutputOptions): Screen {
  if (strip_colors === false) return (text) => text
  return terminal === true ? withoutControls : (text) => text.replaceAll('\x1b', '?')
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are to be removed
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '?')
}
