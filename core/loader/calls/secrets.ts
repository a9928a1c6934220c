import type { Params } from '../../author/params.ts'
import { MASK } from '../../base/secret.ts'
import { keywordsIn } from './arguments.ts'
import { nameOfKind, positionalNames } from './bind.ts'

interface CallToMask {
  readonly fun: string | readonly string[]
  /** The arguments; for several functions a list for each. */
  readonly arg: readonly unknown[]
}

/**
 * Mask the values of `p.secret` parameters in the arguments of a job (wire protocol §10.1), to show and store them. The
 * arguments of an unknown function stay unchanged; if `paramsOf` rejects, all values are masked. Never rejects.
 */
export async function maskArguments(
  { fun, arg }: CallToMask,
  paramsOf: (fun: string) => Promise<Params | undefined>,
): Promise<readonly unknown[]> {
  if (typeof fun !== 'string') {
    return Promise.all(
      arg.map((own, index) => {
        const name = fun[index]
        return name !== undefined && Array.isArray(own)
          ? maskArguments({ fun: name, arg: own }, paramsOf)
          : own
      }),
    )
  }
  if (arg.length === 0) return arg
  return paramsOf(fun).then(
    (params) => (params ? masked(arg, params) : arg),
    () => masked(arg),
  )
}

/** Mask the secret values, or all values if the parameters are not given. */
function masked(arg: readonly unknown[], params?: Params): readonly unknown[] {
  if (params && !Object.values(params).some(({ secret }) => secret)) return arg
  const places = params ? positionalNames(params) : []
  let place = 0
  return arg.map((item) => {
    const keywords = keywordsIn(item)
    if (!keywords) return isSecret(params, places[place++], 'rest') ? MASK : item
    const hides = (name: string) => isSecret(params, name, 'keywords')
    if (!keywords.some(([name]) => hides(name))) return item
    if (typeof item === 'string') return `${keywords[0]?.[0]}=${MASK}`
    const shown = keywords.map(([name, value]) => [name, hides(name) ? MASK : value])
    return { __kwarg__: true, ...Object.fromEntries(shown) }
  })
}

/**
 * Whether a value must be masked. A value without a parameter of its own belongs to the one of the kind `others`. A value
 * that no parameter takes is masked, too: it may be a secret with a mistyped name or in the wrong position.
 */
function isSecret(
  params: Params | undefined,
  name: string | undefined,
  others: 'rest' | 'keywords',
): boolean {
  if (!params) return true
  const own = name !== undefined && Object.hasOwn(params, name) && params[name]?.kind === 'value'
  const taking = own ? name : nameOfKind(params, others)
  return taking === undefined || params[taking]?.secret === true
}
