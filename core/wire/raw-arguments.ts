import { isRecord } from '../base/record.ts'

/**
 * The words of a call as they were typed, where they differ from the values that Salt reads (`1.10`, `yes`, `0755`): those
 * of positional arguments by index, those of keyword arguments by name. They are sent beside `arg`, which is the same as in
 * Salt, and are neither stored nor shown.
 */
export interface RawCallArguments {
  readonly args: readonly (string | null)[]
  readonly kwargs: Readonly<Record<string, string>>
}

/** The words of one function, or a list for several. */
export type RawArguments = RawCallArguments | readonly (RawCallArguments | null)[]

/** Read the words of a request; undefined if they are malformed, which is not a reason to refuse the request. */
export function readRawArguments(value: unknown): RawArguments | undefined {
  if (!Array.isArray(value)) return readWords(value)
  const lists = value.map((each) => readWords(each) ?? null)
  return lists.some(Boolean) ? lists : undefined
}

/** Return the words of the function at an index, or of the only one. */
export function rawArgumentsAt(words: RawArguments | undefined, index: number): RawCallArguments | undefined {
  return isList(words) ? (words[index] ?? undefined) : words
}

const isList = (words: RawArguments | undefined): words is readonly (RawCallArguments | null)[] =>
  Array.isArray(words)

function readWords(value: unknown): RawCallArguments | undefined {
  if (!isRecord(value)) return undefined
  const { args, kwargs } = value
  if (!Array.isArray(args) || !args.every((text) => text === null || typeof text === 'string'))
    return undefined
  if (!isRecord(kwargs) || !Object.values(kwargs).every((text) => typeof text === 'string')) return undefined
  return { args, kwargs: kwargs as Record<string, string> }
}
