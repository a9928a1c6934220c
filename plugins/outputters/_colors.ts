/** Salt's colour theme, and text made safe for a terminal. */

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

/** Gives the function that puts text in colour, or leaves it as it is. */
export function painter(color: boolean): Paint {
  return color ? (name, text) => `\x1b[${CODES[name]}m${text}\x1b[0;0m` : (_, text) => text
}

/** Control characters, which could steer the terminal, shown as `?`. Tab stays. */
export function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '?')
}
