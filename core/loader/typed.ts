/**
 * A value together with the word it was typed as, so that a declared type decides what was meant: `1.10` is the text
 * "1.10" where text is declared. Whatever declares no type gets the value, as Salt reads it.
 */
import { encodeLocal } from '../codec/index.ts'
import type { TypedWords } from '../wire/typed-words.ts'
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

/** What a word says: a text is itself, quoted or not. */
export function typed(text: string): unknown {
  const value = yamlify(text)
  return typeof value === 'string' ? value : new Typed(value, text)
}

/** The words that say more than their values, to go beside what `parseInput` makes of them. Undefined if none does. */
export function typedWords(
  words: readonly string[],
  noParse: readonly string[] = [],
): TypedWords | undefined {
  const args: (string | null)[] = []
  const kwargs = new Map<string, string>()
  for (const word of words) {
    const [, name, text = ''] = KEYWORD.exec(word) ?? []
    if (name === undefined) args.push(saysMore(word) ? word : null)
    else if (saysMore(text) && !noParse.includes(name)) kwargs.set(name, text)
    else kwargs.delete(name)
  }
  if (kwargs.size === 0 && args.every((text) => text === null)) return undefined
  return { args, kwargs: Object.fromEntries(kwargs) }
}

const saysMore = (text: string) => typeof yamlify(text) !== 'string'

/**
 * The arguments with the words they were typed as. A word that does not stand for the value beside it is left out: the
 * value is what was authorised, stored and shown.
 */
export function withWords(call: Arguments, words: TypedWords | undefined): Arguments {
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

/** As they would be read on the other side of a wire: 3 is not 3.0 there. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || encodeLocal(one).equals(encodeLocal(other))
}
