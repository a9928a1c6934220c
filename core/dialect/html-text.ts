const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Return text as it is written in HTML, also in an attribute with quotes. */
export const htmlText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
