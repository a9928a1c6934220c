/**
 * A value together with the word it was typed as. The declared type decides which one is used: `1.10` is the text "1.10"
 * where text is declared. Without a declared type it is the value, as Salt reads it.
 */
import { encodeLocal } from '../../codec/index.ts'
import type { RawCallArguments } from '../../wire/raw-arguments.ts'
import { type Arguments, KEYWORD, yamlify } from './words.ts'

export class Typed {
  readonly value: unknown
  readonly text: string

  constructor(value: unknown, text: string) {
    this.value = value
    this.text = text
  }
}

export const untyped = (value: unknown): unknown => (value instanceof Typed ? value.value : value)

/** Return the value of a word: a plain text, or else a `Typed` value. */
export function typed(text: string): unknown {
  const value = yamlify(text)
  return typeof value === 'string' ? value : new Typed(value, text)
}

/**
 * Return the words whose values are not text, to accompany the values that `parseInput` returns. Undefined if there are
 * none.
 */
export function typedWords(
  words: readonly string[],
  noParse: readonly string[] = [],
): RawCallArguments | undefined {
  const args: (string | null)[] = []
  const kwargs = new Map<string, string>()
  for (const word of words) {
    const [, name, text = ''] = KEYWORD.exec(word) ?? []
    if (name === undefined) args.push(isNoText(word) ? word : null)
    else if (isNoText(text) && !noParse.includes(name)) kwargs.set(name, text)
    else kwargs.delete(name)
  }
  if (kwargs.size === 0 && args.every((text) => text === null)) return undefined
  return { args, kwargs: Object.fromEntries(kwargs) }
}

const isNoText = (text: string) => typeof yamlify(text) !== 'string'

/**
 * Return the arguments with the words they were typed as. A word that does not have the value beside it is ignored, since
 * the value is the one that was authorised, stored and shown.
 */
export function withWords(call: Arguments, words: RawCallArguments | undefined): Arguments {
  if (!words) return call
  const join = (value: unknown, text: string | null | undefined) =>
    typeof text === 'string' && isSame(yamlify(text), untyped(value))
      ? new Typed(untyped(value), text)
      : value
  const kwargs = Object.entries(call.kwargs).map(([name, value]) => [
    name,
    join(value, Object.hasOwn(words.kwargs, name) ? words.kwargs[name] : undefined),
  ])
  return {
    args: call.args.map((value, index) => join(value, words.args[index])),
    kwargs: Object.fromEntries(kwargs),
  }
}

/** Whether two values have the same encoding: 3 and 3.0 differ for Python. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || encodeLocal(one).equals(encodeLocal(other))
}
