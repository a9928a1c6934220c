import type { Params } from '../../author/params.ts'
import { refusal } from './validate.ts'

/**
 * Convert checked values by name to those that a function receives. Rejects with the error that `refuse` returns for the first
 * value that a conversion refuses.
 */
export async function convertedValues(
  values: Readonly<Record<string, unknown>>,
  params: Params,
  refuse: (name: string, wrong: string) => Error,
): Promise<Record<string, unknown>> {
  const converted = { ...values }
  for (const [name, { convert, convertsAbsent, secret = false }] of Object.entries(params)) {
    if (!convert || !(convertsAbsent || Object.hasOwn(values, name))) continue
    const result = await convert(values[name])
    if ('demand' in result) {
      const { demand, detail = '', ...wrong } = result
      throw refuse(
        name,
        refusal({ name, ...wrong, demand: secret ? demand : demand + detail, hidden: secret }),
      )
    }
    if (result.value !== undefined) converted[name] = result.value
  }
  return converted
}
