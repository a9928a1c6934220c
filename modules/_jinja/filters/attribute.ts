import { attribute, item } from '../values/lookup.ts'
import { Undefined } from '../values/objects.ts'

/** Return a reader of an attribute: `a.b.0`, or an index. */
export function attributeReader(path: unknown): (value: unknown) => unknown {
  const steps =
    typeof path === 'string'
      ? path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
      : [path]
  return (value) =>
    steps.reduce((inner, step) => {
      const own = typeof step === 'string' && !Array.isArray(inner) ? item(inner, step) : undefined
      if (own !== undefined && !(own instanceof Undefined)) return own
      return typeof step === 'string' ? attribute(inner, step) : item(inner, step)
    }, value)
}
