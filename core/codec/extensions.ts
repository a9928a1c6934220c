import { ExtData, ExtensionCodec } from '@msgpack/msgpack'
import { DateTime, NamedConstant } from './values.ts'

/** Encodes or decodes the message inside an extension. */
type Nested = (given: unknown) => unknown

/**
 * Salt's extensions of MessagePack (wire protocol §1): 78, a date and time; 79, a named constant. A malformed date-time is
 * decoded as `ExtData`, a malformed constant as null.
 */
export const extensions = new ExtensionCodec<Nested>()

extensions.register({
  type: 78,
  encode: (value) => (value instanceof DateTime ? Buffer.from(value.text) : null),
  decode(data, type) {
    const text = Buffer.from(data).toString('latin1')
    return DateTime.matches(text) ? new DateTime(text) : new ExtData(type, data)
  },
})

extensions.register({
  type: 79,
  encode: (value, nested) =>
    value instanceof NamedConstant ? (nested([value.name, value.value]) as Uint8Array<ArrayBuffer>) : null,
  decode(data, _type, nested) {
    const pair = nested(data)
    return isPair(pair) ? new NamedConstant(...pair) : null
  },
})

const isPair = (value: unknown): value is ConstructorParameters<typeof NamedConstant> =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string'
