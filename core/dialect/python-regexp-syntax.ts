/** Translates Python's regular expressions to JavaScript's (flag `u`), and estimates how much backtracking they allow. */
import { SaltError } from '../base/errors.ts'

export interface Translated {
  /** Has the flag `y`, and matches at the start of the text only (`lastIndex` 0). */
  readonly expression: RegExp
  /** Number of repetitions (`*`, `+`, `{}`): each may multiply the work by the length of the text. */
  readonly repetitions: number
  /** Number of `?` and `|`: each may double the work. */
  readonly branches: number
  /** Whether a group that contains a choice is repeated, or a back reference occurs: the work may be exponential. */
  readonly nested: boolean
  /** Names of the groups in the order of their numbers, empty for those without a name. */
  readonly groups: readonly string[]
}

interface Classes {
  readonly boundary: string
  /** Character classes by the letter of the escape. */
  readonly [letter: string]: string
}

const UNICODE = classes(
  '\\p{L}\\p{N}_',
  '\\p{Nd}',
  '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000',
)
/** Classes under the flag `a`. */
const ASCII = classes('A-Za-z0-9_', '0-9', '\\t-\\r\\x20')

function classes(word: string, digit: string, space: string): Classes {
  return {
    d: `[${digit}]`,
    D: `[^${digit}]`,
    s: `[${space}]`,
    S: `[^${space}]`,
    w: `[${word}]`,
    W: `[^${word}]`,
    boundary: `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`,
  }
}
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\\x07',
  f: '\\f',
  n: '\\n',
  r: '\\r',
  t: '\\t',
  v: '\\v',
}

/** Translate a pattern. With `whole` it has to match all of the text. */
export function translate(pattern: string, ignoreCase: boolean, whole = false): Translated {
  return new Translation(pattern, ignoreCase, whole).run()
}

interface OpenGroup {
  /** Repetitions and branches counted before the group. */
  readonly choices: number
  /** Position in the output where the group begins. */
  readonly start: number
  /** Output that closes the group. */
  readonly end: string
  /** The flags in effect around the group. */
  readonly flags: ReadonlySet<string>
}

/** Flags that may change within a pattern: `(?i:web)`. */
const SCOPED = /\?([imsxau]*)(?:-([imsx]+))?:/y

/** Output of zero width. */
const ANCHORS = new Set(['^', '(?=\\n?$)', UNICODE.boundary, ASCII.boundary])

/** One pass over a pattern. */
class Translation {
  readonly #pattern: string
  #flags: ReadonlySet<string>
  readonly #whole: boolean
  /**
   * Whether only a part of the pattern ignores case. JavaScript has no flag for that: each character is written in both
   * cases.
   */
  readonly #ownCase: boolean
  #at = 0
  #output = ''
  #repetitions = 0
  #branches = 0
  #nested = false
  readonly #open: OpenGroup[] = []
  /** Names of Python's groups, in order. The helper groups that are added must not change their numbers. */
  readonly #groups: string[] = []
  #helpers = 0
  /** Position in the output where the last part that may be repeated begins. */
  #atom = 0
  #closedWithChoice = false

  constructor(pattern: string, ignoreCase: boolean, whole: boolean) {
    this.#pattern = pattern
    this.#whole = whole
    this.#flags = new Set(ignoreCase ? ['i'] : [])
    this.#ownCase = /\(\?[imsxau]*(?:i[imsxau]*(?:-[imsx]+)?|-[msx]*i[imsx]*):/.test(pattern)
  }

  run(): Translated {
    this.#globalFlags()
    while (this.#at < this.#pattern.length) this.#token()
    if (this.#open.length > 0) throw this.#invalid('it has a ( without its )')
    return {
      expression: this.#compile(),
      repetitions: this.#repetitions,
      branches: this.#branches,
      nested: this.#nested,
      groups: this.#groups,
    }
  }

  #compile(): RegExp {
    const output = this.#whole ? `(?:${this.#output})(?![\\s\\S])` : this.#output
    try {
      return new RegExp(output, this.#flags.has('i') && !this.#ownCase ? 'iuy' : 'uy')
    } catch {
      throw this.#invalid('it is not a valid expression')
    }
  }

  /** Read global flags such as `(?i)`, which Python allows only at the start. */
  #globalFlags(): void {
    for (const match of this.#pattern.matchAll(/\(\?([a-zA-Z]+)\)/gy)) {
      const flags = match[1] as string
      const unknown = Array.from(flags).find((flag) => !'ismaux'.includes(flag))
      if (unknown) throw this.#invalid(`the flag (?${unknown}) is not supported`)
      this.#flags = new Set([...this.#flags, ...flags])
      this.#at += match[0].length
    }
  }

  #token(): void {
    const character = this.#take()
    if (this.#flags.has('x') && this.#isSkipped(character)) return
    // A comment stands for nothing: what follows it repeats what comes before it.
    if (character === '(' && this.#matched(/\?#[^)]*\)/y)) return
    const closedWithChoice = this.#closedWithChoice
    this.#closedWithChoice = false
    if ('*+?{'.includes(character) && this.#quantifier(character, closedWithChoice)) return
    if (character !== ')') this.#atom = this.#output.length
    if (character === '(') this.#openGroup()
    else if (character === ')') this.#closeGroup()
    else if (character === '|') this.#choice('|')
    else this.#output += this.#part(character)
  }

  /** Whether the flag `x` skips the character: white space, or a `#` with the comment up to the end of the line. */
  #isSkipped(character: string): boolean {
    if (character !== '#') return /[ \t-\r]/.test(character)
    const end = this.#pattern.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#pattern.length : end + 1
    return true
  }

  #part(character: string): string {
    if (character === '\\') return this.#escape(false)
    if (character === '[') return this.#set()
    if (character === '^') return this.#flags.has('m') ? '(?<![^\\n])' : '^'
    if (character === '$') return this.#flags.has('m') ? '(?![^\\n])' : '(?=\\n?$)'
    if (character === '.') return this.#flags.has('s') ? '[\\s\\S]' : '[^\\n]'
    return this.#character(character)
  }

  /** Translate a literal character; into both cases where only a part of the pattern ignores case. */
  #character(character: string): string {
    if (!this.#ownCase || !this.#flags.has('i')) return literal(character)
    const both = new Set([character, character.toLowerCase(), character.toUpperCase()])
    const single = Array.from(both).filter((each) => Array.from(each).length === 1)
    return single.length > 1 ? `[${single.map(literal).join('')}]` : literal(character)
  }

  get #classes(): Classes {
    return this.#flags.has('a') ? ASCII : UNICODE
  }

  #choice(text: string): void {
    this.#branches++
    this.#output += text
  }

  #openGroup(): void {
    if (this.#pattern[this.#at] !== '?') {
      this.#begin(this.#named(''))
      return
    }
    const back = this.#matched(/\?P=([A-Za-z_]\w*)\)/y)
    if (back) {
      this.#output += this.#backReference(this.#groups.indexOf(back[1] as string) + 1)
      return
    }
    const plain = this.#matched(/\?(?:=|!|<=|<!)/y)
    const named = plain ? undefined : this.#matched(/\?P<([A-Za-z_]\w*)>/y)
    const atomic = this.#matched(/\?>/y)
    const scoped = this.#matched(SCOPED)
    if (plain)
      this.#begin(`(?:(${plain[0]}`, '))') // JavaScript repeats a look-around only inside a group
    else if (named) this.#begin(this.#named(named[1] as string))
    else if (atomic) this.#begin(this.#helper(), this.#helperEnd())
    else if (scoped) this.#beginScoped(scoped)
    else throw this.#invalid(`the group '(${this.#pattern.slice(this.#at, this.#at + 3)}' is not supported`)
  }

  /** Match a sticky expression at the current position, and advance past the match. */
  #matched(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#pattern) ?? undefined
    this.#at += found?.[0].length ?? 0
    return found
  }

  #begin(text: string, end = ')'): void {
    const choices = this.#repetitions + this.#branches
    this.#open.push({ choices, start: this.#output.length, end, flags: this.#flags })
    this.#output += text
  }

  #beginScoped([, on = '', off = '']: RegExpExecArray): void {
    this.#begin('(?:')
    const flags = new Set([...this.#flags, ...on])
    for (const flag of off) flags.delete(flag)
    if (on.includes('u')) flags.delete('a')
    this.#flags = flags
  }

  #named(name: string): string {
    if (name !== '' && this.#groups.includes(name))
      throw this.#invalid(`the group '${name}' is defined twice`)
    return `(?<g${this.#groups.push(name)}>`
  }

  /** Begin an atomic group. JavaScript has none; a look-ahead followed by a reference to its match is equivalent. */
  #helper(): string {
    return `(?=(?<a${++this.#helpers}>`
  }

  #helperEnd(): string {
    return `))\\k<a${this.#helpers}>`
  }

  #closeGroup(): void {
    const group = this.#open.pop()
    if (group === undefined) throw this.#invalid('it has a ) without its (')
    this.#closedWithChoice = this.#repetitions + this.#branches > group.choices
    this.#flags = group.flags
    this.#atom = group.start
    this.#output += group.end
    if (group.end !== ')')
      this.#output = `${this.#output.slice(0, group.start)}(?:${this.#output.slice(group.start)})`
  }

  /** Translate a quantifier. Returns false for a brace that stands for itself. */
  #quantifier(character: string, closedWithChoice: boolean): boolean {
    const counted = character === '{' ? /^(\d*)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#at)) : null
    if (character === '{' && (!counted || counted[0] === '}')) return false
    if (ANCHORS.has(this.#output.slice(this.#atom))) throw this.#invalid('there is nothing to repeat')
    if (counted) this.#at += counted[0].length
    this.#output += counted ? `{${counted[1] || '0'}${counted[2]}${counted[3]}}` : character
    if (closedWithChoice) this.#nested = true
    if (character === '?') this.#branches++
    else this.#repetitions++
    if (this.#pattern[this.#at] === '?') this.#output += this.#take()
    else if (this.#pattern[this.#at] === '+') this.#possessive()
    return true
  }

  #possessive(): void {
    this.#at++
    const repeated = this.#output.slice(this.#atom)
    this.#output = `${this.#output.slice(0, this.#atom)}(?:${this.#helper()}${repeated}${this.#helperEnd()})`
  }

  #backReference(number: number): string {
    if (number < 1 || number > this.#groups.length)
      throw this.#invalid('it refers to a group that is not defined yet')
    this.#nested = true
    return `(?:\\k<g${number}>)`
  }

  /** Translate an escape, outside or inside a set. The backslash has been read. */
  #escape(inSet: boolean): string {
    const character = this.#take()
    if ('dDsSwW'.includes(character)) return this.#classes[character] as string
    if (Object.hasOwn(CONTROLS, character)) return CONTROLS[character] as string
    const code = this.#codePoint(character, inSet)
    if (code !== undefined) return `\\u{${code.toString(16)}}`
    if (inSet) return character === 'b' ? '\\x08' : this.#identity(character)
    if (character === 'A') return '(?<![\\s\\S])'
    if (character === 'Z') return '(?![\\s\\S])'
    if (character === 'b') return this.#classes.boundary
    if (character === 'B') return `(?!${this.#classes.boundary}|(?<![\\s\\S])(?![\\s\\S]))`
    if (/[1-9]/.test(character)) return this.#numbered(character)
    return this.#identity(character)
  }

  /**
   * Return the code point of `\x41`, `\u0041`, `\U00000041`, or octal `\0`, `\012`, `\101`; undefined for other
   * escapes.
   */
  #codePoint(character: string, inSet: boolean): number | undefined {
    const digits = { x: 2, u: 4, U: 8 }[character]
    const rest = this.#pattern.slice(this.#at)
    if (digits !== undefined) {
      const hex = new RegExp(`^[0-9a-fA-F]{${digits}}`).exec(rest)?.[0]
      if (!hex || Number.parseInt(hex, 16) > 0x10ffff)
        throw this.#invalid(`\\${character} needs ${digits} hex digits`)
      this.#at += digits
      return Number.parseInt(hex, 16)
    }
    const octal = /^(?:0[0-7]{0,2}|[1-3][0-7]{2})/.exec(character + rest)?.[0]
    if (octal === undefined && !(inSet && /[1-7]/.test(character))) return undefined
    this.#at += (octal ?? character).length - 1
    return Number.parseInt(octal ?? character, 8)
  }

  #numbered(first: string): string {
    const second = /\d/.test(this.#pattern[this.#at] ?? '') ? this.#take() : ''
    return this.#backReference(Number(first + second))
  }

  /** Translate an escape that stands for the character itself. Letters and digits are reserved. */
  #identity(character: string): string {
    if (/[A-Za-z0-9]/.test(character)) throw this.#invalid(`\\${character} has no meaning`)
    return literal(character)
  }

  #set(): string {
    const open = this.#at
    const negated = this.#pattern[this.#at] === '^'
    if (negated) this.#at++
    let members = ''
    const complements: string[] = []
    for (let first = true; first || this.#pattern[this.#at] !== ']'; first = false) {
      if (this.#at >= this.#pattern.length) throw this.#invalid("this '[' is never closed", open)
      const low = this.#member()
      if (low.startsWith('[^')) complements.push(low)
      else members += isClass(low) ? low.slice(1, -1) : this.#cased(low, this.#upTo(low))
    }
    this.#at++
    if (complements.length === 0) return `[${negated ? '^' : ''}${members}]`
    const any = [...complements, ...(members === '' ? [] : [`[${members}]`])].join('|')
    // The alternatives overlap: only a look-around never goes back into them.
    return `(?:(?${negated ? '!' : '='}${any})[\\s\\S])`
  }

  /** Read the end of the range that a member of a set begins; undefined if it begins none. */
  #upTo(low: string): string | undefined {
    const next = this.#pattern[this.#at + 1]
    if (this.#pattern[this.#at] !== '-' || next === ']' || next === undefined) return undefined
    this.#at++
    const high = this.#member()
    if (isClass(low) || isClass(high)) throw this.#invalid('a range of a set ends in a class')
    return high
  }

  /** Read a member of a set: a character, or a class in brackets. */
  #member(): string {
    const character = this.#take()
    return character === '\\' ? this.#escape(true) : literal(character)
  }

  /** Translate a member or a range of a set; into both cases where only a part of the pattern ignores case. */
  #cased(low: string, high?: string): string {
    const member = high === undefined ? low : `${low}-${high}`
    if (!this.#ownCase || !this.#flags.has('i')) return member
    const ends = [low, high ?? low]
    if (!ends.every((end) => /^[a-z]$/i.test(end))) return member
    const swapped = ends.map((end) => (end === end.toLowerCase() ? end.toUpperCase() : end.toLowerCase()))
    return `${member}${swapped.join('-')}`
  }

  #take(): string {
    const code = this.#pattern.codePointAt(this.#at)
    if (code === undefined) throw this.#invalid('it ends too early')
    const character = String.fromCodePoint(code)
    this.#at += character.length
    return character
  }

  #invalid(reason: string, at = this.#at): SaltError {
    return invalidPatternError(this.#pattern, `${reason} (at character ${at})`)
  }
}

const isClass = (member: string): boolean => member.startsWith('[') && member.endsWith(']')

/** Return the error for a pattern that cannot be used. */
export function invalidPatternError(pattern: string, reason: string): SaltError {
  const shown = pattern.length > 80 ? `${pattern.slice(0, 77)}...` : pattern
  return new SaltError('TARGET_INVALID', `The regular expression '${shown}' is not valid: ${reason}.`, {
    pattern: shown,
  })
}

/** Return a character, escaped if it has a meaning in an expression or a set. */
function literal(character: string): string {
  return /[\^$\\.*+?()[\]{}|/\-&!#%,:;<=>@`~]/.test(character)
    ? `\\u{${(character.codePointAt(0) as number).toString(16)}}`
    : character
}
