export { decode, decodeRaw, decodeUntrusted } from './decoder.ts'
export { encodeLocal, encodeNetwork } from './encoder.ts'
export { StreamDecoder } from './stream-decoder.ts'
export { DateTime, Float, NamedConstant, type Value } from './values.ts'
