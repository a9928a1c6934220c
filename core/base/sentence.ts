/** Return the text with a full stop at its end, unless it ends like a sentence already. */
export const sentence = (text: string): string => (/[.!?\u2026]["')]?$/.test(text) ? text : `${text}.`)

/** List the first `max` names and the number of the others: `web1, web2 and 3 more`. */
export function shortList(names: readonly string[], max: number): string {
  const shown = names.slice(0, max).join(', ')
  return names.length > max ? `${shown} and ${names.length - max} more` : shown
}

/** Return a number with its noun: `1 file`, `2 files`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
