import { htmlText } from '../../dialect/html-text.ts'

/** Text that is HTML: all that is put into it is escaped, unless it is HTML itself. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Inside = string | number | undefined | Html | readonly Html[]

/** Make HTML: `` html`<b>${name}</b>` `` escapes the name. A value in an attribute needs quotes around it. */
export function html(parts: TemplateStringsArray, ...values: readonly Inside[]): Html {
  const texts = values.map((value, index) => textOf(value) + (parts[index + 1] as string))
  return new Html((parts[0] as string) + texts.join(''))
}

function textOf(value: Inside): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  return typeof value === 'object' ? value.map(({ text }) => text).join('') : escapeHtml(String(value))
}

/** Return text without characters that are not seen, such as those that change its direction. */
export const visible = (text: string): string => text.replace(/[^\P{C}\n\t]/gu, '')

export const escapeHtml = (text: string): string => htmlText(visible(text))
