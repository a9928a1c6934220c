/** Return the text with a full stop at its end, unless it ends like a sentence already. */
export const sentence = (text: string): string => (/[.!?\u2026]["')]?$/.test(text) ? text : `${text}.`)

/** List the first `most` names and the number of the others: `web1, web2 and 3 more`. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}

/** Return a number with its noun: `1 file`, `2 files`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
