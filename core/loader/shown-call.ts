import type { Params } from '../author/params.ts'
import { maskSecretWords, type SecretWordOptions } from '../base/secret-words.ts'
import { shownArguments } from '../wire/return.ts'
import { maskArguments } from './secrets.ts'

interface Call {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
}

/**
 * Arguments of a runner or wheel function as they may be shown. Each positional one is in a list meanwhile: not even
 * `a=b` is a keyword here.
 */
export async function shownCall(
  { fun, args, kwargs }: Call,
  paramsOf: () => Promise<Params | undefined>,
  options: SecretWordOptions,
): Promise<unknown[]> {
  const keywords = Object.keys(kwargs).length ? [{ __kwarg__: true, ...kwargs }] : []
  const arg = [...args.map((value) => [value]), ...keywords]
  const masked = shownArguments(await maskArguments({ fun, arg }, paramsOf))
  return maskSecretWords(
    masked.map((item) => (Array.isArray(item) ? item[0] : item)),
    options,
  )
}
