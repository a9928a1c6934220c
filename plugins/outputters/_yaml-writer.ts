/** Writes YAML in the layout of PyYAML with LibYAML's emitter: 80 columns, sorted keys, lists not indented under their key. */
import { floatText } from '#internal'
import { dateText, rstrip } from './_python.ts'
import { entriesOf, kindOf, listOf, sortedEntriesOf } from './_values.ts'
import { isPrintable, stylesOf } from './_yaml-scalar.ts'

const WIDTH = 80
const MAX_SIMPLE_KEY_LENGTH = 128

/** The letters of escapes between double quotes. */
export const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
}

/** Position of a node. */
interface Place {
  /** Column where its lines begin; -1 for the document itself. */
  readonly indent: number
  /** Whether it is a value or key of a map. */
  readonly inMap?: boolean
  /** Whether it is a key on the same line as its value. */
  readonly key?: boolean
}

/** Which lists and maps are in brackets, besides the empty ones: the innermost are PyYAML's own default. */
type Inline = 'all' | 'innermost' | 'none'

export class YamlWriter {
  readonly #step: number
  readonly #inline: Inline
  readonly #ascii: boolean
  readonly #sorted: boolean
  #output = ''
  #column = 0
  /** Whether the last character is white space. */
  #blank = true
  /** Whether the line has only white space and `-` or `?` yet. */
  #indention = true
  #flowLevel = 0

  /** With `ascii` all other characters are escaped. With `sorted` maps are in the order of their keys, else in their own. */
  constructor(step: number, inline: Inline, { ascii = false, sorted = true } = {}) {
    this.#sorted = sorted
    this.#step = step
    this.#inline = inline
    this.#ascii = ascii
  }

  document(value: unknown): string {
    this.#node(value, { indent: -1 })
    return rstrip(this.#output)
  }

  #node(value: unknown, place: Place): void {
    const kind = kindOf(value)
    if (kind === 'list') this.#list(listOf(value), place)
    else if (kind === 'map') this.#map(value, place)
    else if (kind === 'bytes') this.#binary(value as Uint8Array, place)
    else if (kind === 'text') this.#text(value as string, place)
    else if (kind === 'date' && this.#flowLevel > 0) this.#flowDate(dateText(value), place)
    else this.#plain(scalarText(value), place, false)
  }

  #list(members: unknown[], place: Place): void {
    if (this.#flow(members)) {
      this.#inFlow('[', members, ']', place, (member, inner) => this.#node(member, inner))
      return
    }
    const indent = place.inMap && !this.#indention ? Math.max(place.indent, 0) : this.#deeper(place.indent, 0)
    for (const member of members) {
      this.#newLine(indent)
      this.#indicator('-', { space: true, indention: true })
      this.#node(member, { indent })
    }
  }

  #map(map: unknown, place: Place): void {
    const entries = this.#sorted ? sortedEntriesOf(map) : entriesOf(map)
    if (this.#flow(entries.flat())) {
      this.#inFlow('{', entries, '}', place, (entry, inner) => this.#entry(entry, inner))
      return
    }
    const indent = this.#deeper(place.indent, 0)
    for (const entry of entries) {
      this.#newLine(indent)
      this.#entry(entry, { indent })
    }
  }

  #entry([key, value]: [unknown, unknown], { indent }: Place): void {
    if (isSimpleKey(key)) {
      this.#node(key, { indent, inMap: true, key: true })
      this.#indicator(':', { space: false })
    } else {
      this.#indicator('?', { space: true, indention: true })
      this.#node(key, { indent, inMap: true })
      if (this.#flowLevel === 0 || this.#column > WIDTH) this.#newLine(indent)
      this.#indicator(':', { space: true, indention: true })
    }
    this.#node(value, { indent, inMap: true })
  }

  #flow(members: readonly unknown[]): boolean {
    if (this.#flowLevel > 0 || this.#inline === 'all' || members.length === 0) return true
    return this.#inline === 'innermost' && !members.some(isCollection)
  }

  #inFlow<T>(
    open: string,
    members: readonly T[],
    close: string,
    place: Place,
    write: (m: T, p: Place) => void,
  ): void {
    const indent = this.#deeper(place.indent, this.#step)
    this.#indicator(open, { space: true, blank: true })
    this.#flowLevel++
    members.forEach((member, n) => {
      if (n > 0) this.#indicator(',', { space: false })
      if (this.#column > WIDTH) this.#newLine(indent)
      write(member, { indent })
    })
    this.#flowLevel--
    this.#indicator(close, { space: false })
  }

  #deeper(indent: number, first: number): number {
    return indent < 0 ? first : indent + this.#step
  }

  #text(text: string, place: Place): void {
    const styles = stylesOf(text, this.#ascii)
    const plain = this.#flowLevel > 0 ? styles.plainInFlow : styles.plainInBlock
    const oneLine = place.key === true
    if (plain) this.#plain(text, place, !oneLine)
    else if (styles.single && !(oneLine && styles.multiline)) this.#singleQuoted(text, place)
    else this.#doubleQuoted(text, place)
  }

  #plain(text: string, place: Place, split: boolean): void {
    if (!this.#blank) this.#write(' ')
    for (const run of text.match(/ +|[^ ]+/g) ?? []) {
      if (run === ' ' && split && this.#column > WIDTH) this.#newLine(this.#deeper(place.indent, this.#step))
      else this.#write(run)
    }
    this.#blank = false
    this.#indention = false
  }

  #singleQuoted(text: string, place: Place): void {
    const indent = this.#deeper(place.indent, this.#step)
    this.#indicator("'", { space: true })
    const runs = text.match(/ +|[\n\x85\u2028\u2029]+|[^ \n\x85\u2028\u2029]+/g) ?? []
    runs.forEach((run, n) => {
      const inside = n > 0 && n < runs.length - 1 && place.key !== true
      if (run === ' ' && inside && this.#column > WIDTH) this.#newLine(indent)
      else if (/[\n\x85\u2028\u2029]/.test(run)) this.#breaks(run, indent)
      else this.#write(run.replaceAll("'", "''"))
    })
    this.#indicator("'", { space: false })
  }

  /** Write line breaks. A reader folds a single one into a space, so a run gets one more. */
  #breaks(run: string, indent: number): void {
    this.#output += (run.startsWith('\n') ? '\n' : '') + run
    this.#column = 0
    this.#blank = true
    this.#indention = true
    this.#newLine(indent)
  }

  #doubleQuoted(text: string, place: Place): void {
    const indent = this.#deeper(place.indent, this.#step)
    this.#indicator('"', { space: true })
    const characters = [...text]
    characters.forEach((character, n) => {
      const inside = n > 0 && n < characters.length - 1 && place.key !== true
      const fold = inside && character === ' ' && this.#column > WIDTH && characters[n - 1] !== ' '
      if (!fold) {
        this.#write(escaped(character, this.#ascii))
        return
      }
      this.#newLine(indent)
      if (characters[n + 1] === ' ') this.#write('\\')
    })
    this.#indicator('"', { space: false })
  }

  /** Write a date in flow style. Its colons rule out the plain style there; the tag `!` marks the quoted value as not a text. */
  #flowDate(text: string, place: Place): void {
    this.#indicator('!', { space: true })
    this.#singleQuoted(text, place)
  }

  #binary(bytes: Uint8Array, place: Place): void {
    const lines = (
      Buffer.from(bytes)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).map((line) => `${line}\n`)
    this.#indicator('!!binary', { space: true })
    if (this.#flowLevel > 0 || place.key === true || lines.length === 0) {
      this.#doubleQuoted(lines.join(''), place)
      return
    }
    this.#indicator('|', { space: true })
    for (const line of lines) {
      this.#newLine(this.#deeper(place.indent, this.#step))
      this.#write(line.trimEnd())
    }
    this.#blank = false
    this.#indention = false
  }

  #indicator(text: string, rules: { space: boolean; blank?: boolean; indention?: boolean }): void {
    this.#write(this.#blank || !rules.space ? text : ` ${text}`)
    this.#blank = rules.blank ?? false
    this.#indention = this.#indention && rules.indention === true
  }

  #newLine(indent: number): void {
    const fresh = this.#indention && this.#column <= indent && (this.#column < indent || this.#blank)
    if (!fresh) {
      this.#output += '\n'
      this.#column = 0
      this.#indention = true
    }
    if (this.#column < indent) this.#write(' '.repeat(indent - this.#column))
    this.#blank = true
  }

  #write(text: string): void {
    this.#output += text
    this.#column += text.length
  }
}

const isCollection = (value: unknown): boolean => ['list', 'map'].includes(kindOf(value))

function scalarText(value: unknown): string {
  const kind = kindOf(value)
  if (kind === 'null') return 'null'
  if (kind === 'date') return dateText(value)
  return kind === 'float' ? floatScalar(Number(value)) : String(value)
}

function floatScalar(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '.nan' : value < 0 ? '-.inf' : '.inf'
  const text = floatText(value)
  return text.includes('.') ? text : text.replace('e', '.0e')
}

function isSimpleKey(key: unknown): boolean {
  const kind = kindOf(key)
  if (kind === 'list' || kind === 'map') return (kind === 'list' ? listOf(key) : entriesOf(key)).length === 0
  if (kind === 'bytes') return false
  return (
    kind !== 'text' ||
    (Buffer.byteLength(key as string) <= MAX_SIMPLE_KEY_LENGTH &&
      !/[\r\n\x85\u2028\u2029]/.test(key as string))
  )
}

function escaped(character: string, ascii: boolean): string {
  const short = ESCAPES[character]
  if (short !== undefined) return `\\${short}`
  if (isPrintable(character, ascii)) return character
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase()
  if (code.length > 4) return `\\U${code.padStart(8, '0')}`
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
}
