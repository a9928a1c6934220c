import { decode, encodeNetwork, type Value } from '../../core/codec/index.ts'
import { jsonText } from '../../core/dialect/json.ts'
import type { Random } from '../harness/random.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateText } from './mutate-text.ts'
import { mutateTree } from './mutate-tree.ts'
import type { Target } from './target.ts'

/** Larger inputs are cut off: they take long and show little that smaller ones do not. */
const MAX_BYTES = 16 * 1024

type Form = Pick<Target, 'form' | 'choices' | 'words'>

/** Make an input from those in the pool. */
export function mutate(
  pool: readonly Buffer[],
  { form, choices = [], words = [] }: Form,
  random: Random,
): Buffer {
  const [whole, other] = [random.pick(pool), random.pick(pool)]
  const head = Buffer.from(whole.subarray(0, choices.length))
  for (const [at, count] of choices.entries()) if (random.oneIn(20)) head[at] = random.below(count)
  const body = changed(
    whole.subarray(choices.length),
    other.subarray(choices.length),
    { form, words },
    random,
  )
  return Buffer.concat([head, body]).subarray(0, MAX_BYTES)
}

function changed(body: Buffer, other: Buffer, { form, words = [] }: Form, random: Random): Buffer {
  if (form === 'json' && random.oneIn(2)) return mutatedJson(body, other, words, random)
  if (form === 'text' || form === 'json') return Buffer.from(mutateText(`${body}`, `${other}`, words, random))
  if (form === 'bytes' || random.oneIn(8)) return mutateBytes(body, other, random)
  const message = mutatedMessage(body, other, words, random)
  return random.oneIn(16) ? mutateBytes(message, other, random) : message
}

/** Change the tree of a message, or the bytes of what is none. */
function mutatedMessage(body: Buffer, other: Buffer, words: readonly string[], random: Random): Buffer {
  try {
    return encodeNetwork(mutateTree(decode(body), decode(other), words, random))
  } catch {
    return mutateBytes(body, other, random)
  }
}

/** Change the tree of a JSON text, or the text of what is none. */
function mutatedJson(body: Buffer, other: Buffer, words: readonly string[], random: Random): Buffer {
  try {
    const [value, more] = [body, other].map((text): Value => JSON.parse(`${text}`))
    return Buffer.from(jsonText(mutateTree(value ?? null, more ?? null, [], random)))
  } catch {
    return Buffer.from(mutateText(`${body}`, `${other}`, words, random))
  }
}
