import { isRecord } from './bytes.ts'

/**
 * The words of a call as they were typed, where they say more than the values Salt reads them as (`1.10`, `yes`,
 * `0755`): of positional arguments by place, of keyword arguments by name. They travel beside `arg`, which stays what
 * Salt sends, and are neither stored nor shown.
 */
export interface TypedWords {
  readonly args: readonly (string | null)[]
  readonly kwargs: Readonly<Record<string, string>>
}

/** Of one function, or for each of several. */
export type JobWords = TypedWords | readonly (TypedWords | null)[]

/** Undefined for what is no such thing: words are worth no refusal. */
export function readJobWords(value: unknown): JobWords | undefined {
  if (!Array.isArray(value)) return readWords(value)
  const lists = value.map((each) => readWords(each) ?? null)
  return lists.some(Boolean) ? lists : undefined
}

/** Those of the function at a place among several, or of the only one. */
export function wordsAt(words: JobWords | undefined, index: number): TypedWords | undefined {
  return isList(words) ? (words[index] ?? undefined) : words
}

const isList = (words: JobWords | undefined): words is readonly (TypedWords | null)[] => Array.isArray(words)

function readWords(value: unknown): TypedWords | undefined {
  if (!isRecord(value)) return undefined
  const { args, kwargs } = value
  if (!Array.isArray(args) || !args.every((text) => text === null || typeof text === 'string'))
    return undefined
  if (!isRecord(kwargs) || !Object.values(kwargs).every((text) => typeof text === 'string')) return undefined
  return { args, kwargs: kwargs as Record<string, string> }
}
