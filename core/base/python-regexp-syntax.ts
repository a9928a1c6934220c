/** Python's regular expression syntax → JavaScript's (flag `v`), and how much backtracking it invites. */
import { SaltError } from './errors.ts'

export interface Translated {
  /** Sticky at 0, so it matches at the start only. */
  readonly expression: RegExp
  /** Unbounded or counted repetitions: each may multiply the work by the length of the text. */
  readonly repetitions: number
  /** `?` and `|`: each may double the work. */
  readonly branches: number
  /** A group that contains a choice is itself repeated, or a back reference occurs: work may be exponential. */
  readonly nested: boolean
}

const WORD = '\\p{L}\\p{N}_'
const BOUNDARY = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`
const CLASSES: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '\\s',
  S: '\\S',
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
}
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\\x07',
  f: '\\f',
  n: '\\n',
  r: '\\r',
  t: '\\t',
  v: '\\v',
}

export function translate(pattern: string, ignoreCase: boolean): Translated {
  return new Translation(pattern, ignoreCase).run()
}

/** One pass over the pattern; the members are the state of that pass. */
class Translation {
  readonly #pattern: string
  readonly #flags = new Set(['v', 'y'])
  #at = 0
  #output = ''
  #repetitions = 0
  #branches = 0
  #nested = false
  /** For each open group, how many choices had been met when it opened; last the one closed just now. */
  readonly #open: number[] = []
  #closedWithChoice = false

  constructor(pattern: string, ignoreCase: boolean) {
    this.#pattern = pattern
    if (ignoreCase) this.#flags.add('i')
  }

  run(): Translated {
    this.#globalFlags()
    while (this.#at < this.#pattern.length) this.#token()
    return {
      expression: this.#compile(),
      repetitions: this.#repetitions,
      branches: this.#branches,
      nested: this.#nested,
    }
  }

  #compile(): RegExp {
    try {
      return new RegExp(this.#output, [...this.#flags].join(''))
    } catch {
      throw this.#invalid('it is not a valid expression')
    }
  }

  /** `(?i)` and friends, which Python allows at the very start only. */
  #globalFlags(): void {
    for (const match of this.#pattern.matchAll(/\(\?([a-zA-Z]+)\)/gy)) {
      for (const flag of match[1] as string) {
        if (!'ismauL'.includes(flag)) throw this.#invalid(`the flag (?${flag}) is not supported`)
        if ('ism'.includes(flag)) this.#flags.add(flag)
      }
      this.#at += match[0].length
    }
  }

  #token(): void {
    const character = this.#take()
    const closedWithChoice = this.#closedWithChoice
    this.#closedWithChoice = false
    if (character === '\\') this.#output += this.#escape(false)
    else if (character === '[') this.#output += this.#set()
    else if (character === '(') this.#openGroup()
    else if (character === ')') this.#closeGroup()
    else if (character === '|') this.#choice('|')
    else if (character === '^') this.#output += '^'
    else if (character === '$') this.#output += this.#flags.has('m') ? '$' : '(?=\\n?$)'
    else if (character === '.') this.#output += this.#flags.has('s') ? '.' : '[^\\n]'
    else if ('*+?{'.includes(character)) this.#quantifier(character, closedWithChoice)
    else this.#output += literal(character)
  }

  #choice(text: string): void {
    this.#branches++
    this.#output += text
  }

  #openGroup(): void {
    this.#open.push(this.#repetitions + this.#branches)
    if (this.#pattern[this.#at] !== '?') {
      this.#output += '('
      return
    }
    const rest = this.#pattern.slice(this.#at)
    const plain = /^\?(?::|=|!|<=|<!)/.exec(rest)
    const named = /^\?P<([A-Za-z_]\w*)>/.exec(rest)
    const back = /^\?P=([A-Za-z_]\w*)\)/.exec(rest)
    const comment = /^\?#[^)]*\)/.exec(rest)
    const form = plain ?? named ?? back ?? comment
    if (!form) throw this.#invalid(`the group '(${rest.slice(0, 3)}' is not supported`)
    this.#at += form[0].length
    if (plain) this.#output += `(${plain[0]}`
    else if (named) this.#output += `(?<${named[1]}>`
    else this.#open.pop()
    if (back) this.#backReference(`\\k<${back[1]}>`)
  }

  #closeGroup(): void {
    const before = this.#open.pop()
    if (before === undefined) throw this.#invalid('it has a ) without its (')
    this.#closedWithChoice = this.#repetitions + this.#branches > before
    this.#output += ')'
  }

  #quantifier(character: string, closedWithChoice: boolean): void {
    const counted = character === '{' ? /^(\d*)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#at)) : null
    if (character === '{' && (!counted || counted[0] === '}')) {
      this.#output += literal('{')
      return
    }
    if (counted) this.#at += counted[0].length
    this.#output += counted ? `{${counted[1] || '0'}${counted[2]}${counted[3]}}` : character
    if (closedWithChoice) this.#nested = true
    if (character === '?') this.#branches++
    else this.#repetitions++
    if (this.#pattern[this.#at] === '?') this.#output += this.#take()
    else if (this.#pattern[this.#at] === '+') throw this.#invalid('possessive repetition is not supported')
  }

  #backReference(text: string): void {
    this.#nested = true
    this.#output += `(?:${text})`
  }

  /** What follows a backslash, outside or inside a set. */
  #escape(inSet: boolean): string {
    const character = this.#take()
    if (Object.hasOwn(CLASSES, character)) return CLASSES[character] as string
    if (Object.hasOwn(CONTROLS, character)) return CONTROLS[character] as string
    const code = this.#codePoint(character, inSet)
    if (code !== undefined) return `\\u{${code.toString(16)}}`
    if (inSet) return character === 'b' ? '\\x08' : this.#identity(character)
    if (character === 'A') return '(?<![\\s\\S])'
    if (character === 'Z') return '(?![\\s\\S])'
    if (character === 'b') return BOUNDARY
    if (character === 'B') return `(?!${BOUNDARY})`
    if (/[1-9]/.test(character)) return this.#numbered(character)
    return this.#identity(character)
  }

  /** `\x41`, `\u0041`, `\U00000041`, and octal `\0`, `\012`, `\101`. */
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
    this.#nested = true
    return `(?:\\${first}${second})`
  }

  /** An escaped character that is not a letter or digit stands for itself; other letters are reserved. */
  #identity(character: string): string {
    if (/[A-Za-z0-9]/.test(character)) throw this.#invalid(`\\${character} has no meaning`)
    return literal(character)
  }

  #set(): string {
    const negated = this.#pattern[this.#at] === '^'
    if (negated) this.#at++
    let members = ''
    for (let first = true; first || this.#pattern[this.#at] !== ']'; first = false) {
      members += this.#member()
      const next = this.#pattern[this.#at + 1]
      if (this.#pattern[this.#at] !== '-' || next === ']' || next === undefined) continue
      this.#at++
      members += `-${this.#member()}`
    }
    this.#at++
    return `[${negated ? '^' : ''}${members}]`
  }

  #member(): string {
    const character = this.#take()
    return character === '\\' ? this.#escape(true) : literal(character)
  }

  #take(): string {
    const code = this.#pattern.codePointAt(this.#at)
    if (code === undefined) throw this.#invalid('it ends too early')
    const character = String.fromCodePoint(code)
    this.#at += character.length
    return character
  }

  #invalid(reason: string): SaltError {
    return unusable(this.#pattern, `${reason} (at character ${this.#at})`)
  }
}

/** The error for a pattern that cannot be used. */
export function unusable(pattern: string, reason: string): SaltError {
  const shown = pattern.length > 80 ? `${pattern.slice(0, 77)}...` : pattern
  return new SaltError('TARGET_INVALID', `The regular expression '${shown}' cannot be used: ${reason}.`, {
    pattern: shown,
  })
}

/** Every character that means something in an expression or a set of the `v` flag, escaped. */
function literal(character: string): string {
  return /[\^$\\.*+?()[\]{}|/\-&!#%,:;<=>@`~]/.test(character)
    ? `\\u{${(character.codePointAt(0) as number).toString(16)}}`
    : character
}
