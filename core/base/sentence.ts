/** Return the text with a full stop at its end, unless it ends like a sentence already. */
export const sentence = (text: string): string => (/[.!?…]["')]?$/.test(text) ? text : `${text}.`)
