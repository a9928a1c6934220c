/** Names of locales, and the file that lists which ones are generated. */

export interface LocaleName {
  /** Language and territory: en_US. */
  readonly place: string
  readonly codeset: string
  readonly charmap: string | undefined
}

/** Read a locale such as `en_US.UTF-8 UTF-8`. Undefined for what is no locale. */
export function parseLocale(text: string): LocaleName | undefined {
  const [, place, codeset = '', charmap] =
    /^([A-Za-z]+(?:_[A-Za-z]+)?)(?:\.([\w-]+))?(?:@\w+)?(?: ([\w-]+))?$/.exec(text) ?? []
  return place === undefined ? undefined : { place, codeset, charmap }
}

/** Take the comment sign off the line of a locale in the text of /etc/locale.gen, or add the line. */
export function withLocale(text: string, locale: string): string {
  const lines = text.split('\n')
  if (lines.includes(locale)) return text
  const at = lines.findIndex(
    (line) => /^\s*#/.test(line) && line.replace(/^\s*#\s*/, '').trimEnd() === locale,
  )
  if (at >= 0) return lines.with(at, locale).join('\n')
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${locale}\n`
}
