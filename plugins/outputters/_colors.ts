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

/** What switches a colour on, or off (`end`). Empty where there is no colour. */
export type Codes = Readonly<Record<Color | 'end', string>>

/** `theme` of the options gives colours other codes; it is Salt's `color_theme`, read. */
export function codesOf({ color, theme }: OutputOptions): Codes {
  const all = { ...CODES, end: '0;0', ...(theme as Partial<Record<Color, string>>) }
  return Object.fromEntries(
    Object.entries(all).map(([name, code]) => [name, color ? `\x1b[${code}m` : '']),
  ) as Codes
}

/** Gives the function that puts text in colour, or leaves it as it is. */
export function painter(options: OutputOptions): Paint {
  const codes = codesOf(options)
  return options.color ? (name, text) => codes[name] + text + codes.end : (_, text) => text
}

export type Screen = (text: string, what?: 'key') => string

/**
 * Gives the function that makes text harmless: ESC is shown as `?`, as Salt does, and before a terminal every control
 * character but the tab. `strip_colors: false` lets all of it through.
 */
export function screen({ terminal, strip_colors }: OutputOptions): Screen {
  if (strip_colors === false) return (text) => text
  return terminal === true ? withoutControls : (text) => text.replaceAll('\x1b', '?')
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '?')
}
