/** XML, as programs and servers write it. */

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

/** What begins with `<` and is no element, with its end. One that has no end is text. */
const MARKS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '>'],
] as const
const DOCTYPE = /<!DOCTYPE[^<>[]*(?:\[[^\]]*\]\s*)?>/y
const TAG = /<(\/?)([\w:.-]+)/y
const ATTRIBUTE = /(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * Return all elements of a name, at any depth, in the order of the document. Text beside it, such as warnings of libraries, is no
 * obstacle.
 */
export function elementsOf(document: string, name: string): Element[] {
  return descendants(parse(document).top, name)
}

/** Return the only element at the top of a document, or nothing if the document is not well-formed. */
export function rootOf(document: string): Element | undefined {
  const { top, isBalanced } = parse(document, true)
  const [root, ...more] = top.children
  return isBalanced && more.length === 0 && top.text.trim() === '' ? root : undefined
}

/** Return the first element of a name below another one. */
export const childOf = (element: Element, name: string): Element | undefined => descendants(element, name)[0]

function descendants({ children }: Element, name: string): Element[] {
  return children.flatMap((child) => [...(child.name === name ? [child] : []), ...descendants(child, name)])
}

interface Parsed {
  /** Has the elements at the top as its children. */
  readonly top: Element
  /** Whether each element is closed where it has to be. */
  readonly isBalanced: boolean
}

/** A tag, comment, instruction or CDATA section. */
interface Token {
  readonly start: number
  readonly end: number
  /** The text of a CDATA section. */
  readonly data?: string
  readonly tag?: { readonly closing: boolean; readonly name: string; readonly rest: string }
}

/**
 * Find the tokens of a document. A strict reader stops at a `<` that begins none. The time for it grows as the length of the
 * document does, whatever is in it.
 */
function* tokensOf(document: string, isStrict: boolean): Generator<Token> {
  const endless = new Set<string>()
  for (let at = document.indexOf('<'); at >= 0; ) {
    const mark = MARKS.find(([begin]) => document.startsWith(begin, at))
    const token = mark
      ? markAt(document, at, mark, endless)
      : (doctypeAt(document, at) ?? tagAt(document, at))
    if (token) yield token
    else if (isStrict) return
    at = document.indexOf('<', token?.end ?? at + 1)
  }
}

function markAt(
  document: string,
  start: number,
  [begin, close]: (typeof MARKS)[number],
  endless: Set<string>,
): Token | undefined {
  const from = start + begin.length
  const to = endless.has(close) ? -1 : document.indexOf(close, from)
  if (to >= 0)
    return { start, end: to + close.length, ...(close === ']]>' && { data: document.slice(from, to) }) }
  endless.add(close)
  return undefined
}

function doctypeAt(document: string, start: number): Token | undefined {
  DOCTYPE.lastIndex = start
  return DOCTYPE.test(document) ? { start, end: DOCTYPE.lastIndex } : undefined
}

function tagAt(document: string, start: number): Token | undefined {
  TAG.lastIndex = start
  const [head, slash, name] = TAG.exec(document) ?? []
  const from = start + (head?.length ?? 0)
  const to = name === undefined ? undefined : endOfTag(document, from)
  if (name === undefined || to === undefined) return undefined
  return { start, end: to + 1, tag: { closing: slash === '/', name, rest: document.slice(from, to) } }
}

/** Return the place of the `>` that ends a tag, which is not one between quotes. */
function endOfTag(document: string, from: number): number | undefined {
  const marks = /[<>"']/g
  marks.lastIndex = from
  for (let mark = marks.exec(document); mark; mark = marks.exec(document)) {
    if (mark[0] === '>') return mark.index
    const quote = mark[0] === '<' ? -1 : document.indexOf(mark[0], mark.index + 1)
    if (quote < 0) return undefined
    marks.lastIndex = quote + 1
  }
  return undefined
}

/** Read a document. A strict reader stops at an element that is not closed where it has to be. */
function parse(document: string, isStrict = false): Parsed {
  const stack: Open[] = [{ name: '', attributes: {}, children: [], text: '' }]
  let [end, isBalanced] = [0, true]
  for (const token of tokensOf(document, isStrict)) {
    const open = stack.at(-1) as Open
    open.text += plain(document.slice(end, token.start)) + (token.data ?? '')
    end = token.end
    if (!token.tag) continue
    const { closing, name, rest } = token.tag
    if (closing) {
      isBalanced &&= open.name === name
      if (isStrict && !isBalanced) break
      close(stack, name)
    } else {
      const element: Open = { name, attributes: attributesOf(rest), children: [], text: '' }
      open.children.push(element)
      if (!rest.endsWith('/')) stack.push(element)
    }
  }
  const top = stack[0] as Open
  top.text += document.slice(end)
  return { top, isBalanced: isBalanced && stack.length === 1 }
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
