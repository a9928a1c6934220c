/**
 * Return text as it may go to a terminal, which text of other hosts could control otherwise: `?` takes the place of control characters,
 * but for tabs and line ends, and with `colors` for the codes of colours.
 */
export const screened = (text: string, { colors = false } = {}): string =>
  text.replace(CONTROLS, (found) => {
    const stays = found.endsWith('\n') || (colors && found.length > 1)
    return stays ? found : `?${found.slice(1)}`
  })

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are to be removed
const CONTROLS = /\x1b\[[\d;]*m|\r?\n|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
