import type { Params } from '../../author/params.ts'
import { coerce, filledDefault } from './coerce.ts'
import { convertedValues } from './converted-values.ts'
import { makeCheck } from './validate.ts'

/**
 * Convert values by name to the declared types, and add defaults. Rejects with the error that `refuse` returns for the first
 * invalid one.
 */
export async function checkedValues(
  given: Readonly<Record<string, unknown>>,
  params: Params,
  refuse: (name: string, wrong: string) => Error,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const [name, param] of Object.entries(params)) {
    if (Object.hasOwn(given, name)) {
      values[name] = coerce(given[name], param.schema)
      const wrong = makeCheck({ [name]: param })({ [name]: values[name] })
      if (wrong !== undefined) throw refuse(name, wrong)
    } else if (param.default !== undefined) values[name] = filledDefault(param.default, param.schema)
  }
  return convertedValues(values, params, refuse)
}
