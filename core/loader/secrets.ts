import type { Params } from '../author/params.ts'
import { MASK } from '../base/secret.ts'
import { keywordsIn } from './arguments.ts'
import { nameOfKind, positionalNames } from './bind.ts'

interface Call {
  readonly fun: string | readonly string[]
  /** Of several functions: a list for each. */
  readonly arg: readonly unknown[]
}

/**
 * The arguments of a job (wire protocol §10.1) as they may be shown and stored: values of `p.secret` parameters are
 * masked. Those of a function that is not known here stay as they are; where `paramsOf` rejects, because they cannot be
 * known, every value is masked. Never rejects.
 */
export async function maskArguments(
  { fun, arg }: Call,
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

/** Without parameters every value is secret. */
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
 * What no parameter is named after belongs to the one that takes all the others; what none takes may be meant for one
 * that is secret: a name is mistyped, a place is wrong.
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
