import type { Params } from '../../author/params.ts'
import { maskSecretWords, type SecretWordOptions } from '../../base/secret-words.ts'
import { argumentsForReturn } from '../../wire/return.ts'
import { maskArguments } from './secrets.ts'

interface CallToShow {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
}

/**
 * Return the arguments of a runner or wheel function with secrets masked. Each positional argument is wrapped in a list
 * meanwhile, so that text such as `a=b` is not read as a keyword argument.
 */
export async function shownCall(
  { fun, args, kwargs }: CallToShow,
  paramsOf: () => Promise<Params | undefined>,
  options: SecretWordOptions,
): Promise<unknown[]> {
  const keywords = Object.keys(kwargs).length ? [{ __kwarg__: true, ...kwargs }] : []
  const arg = [...args.map((value) => [value]), ...keywords]
  const masked = argumentsForReturn(await maskArguments({ fun, arg }, paramsOf))
  return maskSecretWords(
    masked.map((item) => (Array.isArray(item) ? item[0] : item)),
    options,
  )
}
