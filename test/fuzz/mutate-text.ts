import type { Random } from '../harness/random.ts'
import { parts } from './interesting.ts'

type Change = (text: string, other: string, words: readonly string[], random: Random) => string

/** Return the text with some changes. `words` mean something to the target; `other` gives parts to splice in. */
export function mutateText(text: string, other: string, words: readonly string[], random: Random): string {
  let changed = text
  do changed = random.pick(changes)(changed, other, words, random)
  while (random.oneIn(2))
  return changed
}

const replaced = (text: string, [start, end]: readonly [number, number], by: string): string =>
  text.slice(0, start) + by + text.slice(end)

const changes: readonly Change[] = [
  (text, _, words, random) =>
    replaced(text, random.span(text.length), random.pick(words.length > 0 ? words : parts)),
  (text, _, words, random) => {
    const at = random.below(text.length + 1)
    return replaced(text, [at, at], random.pick(words.length > 0 ? words : parts))
  },
  (text, _, __, random) => replaced(text, random.span(text.length), random.pick(parts)),
  (text, _, __, random) => replaced(text, random.span(text.length), ''),
  (text, _, __, random) => {
    const [start, end] = random.span(text.length)
    const times = random.oneIn(8) ? random.below(100) : 1
    return replaced(text, [end, end], text.slice(start, end).repeat(times))
  },
  (text, other, _, random) =>
    replaced(text, random.span(text.length), other.slice(...random.span(other.length))),
  (text, _, __, random) => {
    const at = random.below(text.length + 1)
    return replaced(text, [at, at + 1], String.fromCharCode(random.below(random.oneIn(4) ? 0x10000 : 0x80)))
  },
  (text, _, __, random) => text.slice(0, random.below(text.length + 1)),
]
