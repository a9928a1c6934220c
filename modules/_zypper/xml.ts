/** The XML that zypper writes with `--xmlout`. Text beside it, such as warnings of libraries, is no obstacle. */

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Element[]
  /** The text in it, without that of its children. */
  readonly text: string
}

interface Open {
  name: string
  attributes: Record<string, string>
  children: Element[]
  text: string
}

const TOKEN =
  /<!--[\s\S]*?-->|<\?[^>]*\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([\w:.-]+)((?:"[^"]*"|'[^']*'|[^<>"'])*)>/g
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** Return all elements of a name, at any depth, in the order of the document. */
export function elementsOf(document: string, name: string): Element[] {
  return descendants(parse(document), name)
}

/** Return the first element of a name below another one. */
export const childOf = (element: Element, name: string): Element | undefined => descendants(element, name)[0]

function descendants({ children }: Element, name: string): Element[] {
  return children.flatMap((child) => [...(child.name === name ? [child] : []), ...descendants(child, name)])
}

function parse(document: string): Element {
  const stack: Open[] = [{ name: '', attributes: {}, children: [], text: '' }]
  let end = 0
  for (const token of document.matchAll(TOKEN)) {
    const [whole, data, closing, name, rest = ''] = token
    const open = stack.at(-1) as Open
    open.text += plain(document.slice(end, token.index)) + (data ?? '')
    end = token.index + whole.length
    if (name === undefined) continue
    if (closing) close(stack, name)
    else {
      const element: Open = { name, attributes: attributesOf(rest), children: [], text: '' }
      open.children.push(element)
      if (!rest.endsWith('/')) stack.push(element)
    }
  }
  return stack[0] as Open
}

/** Close an element, and those in it that were left open. */
function close(stack: Open[], name: string): void {
  const at = stack.findLastIndex((open) => open.name === name)
  if (at > 0) stack.length = at
}

const attributesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(ATTRIBUTE)].map(([, name, double, single]) => [name, plain(double ?? single ?? '')]),
  )

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const plain = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole, decimal, hex, name) => {
      if (name) return ENTITIES[name.toLowerCase()] as string
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
