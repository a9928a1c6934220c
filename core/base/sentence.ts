/** A text that other sentences follow: it ends as one does. */
export const sentence = (text: string): string => (/[.!?…]["')]?$/.test(text) ? text : `${text}.`)
