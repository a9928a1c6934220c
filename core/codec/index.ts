export { decode, decodeInPlace, decodeRaw, decodeUntrusted } from './decoder.ts'
export { Encoded } from './encoded.ts'
export {
  encodeLocal,
  encodeLocalParts,
  encodeNetwork,
  encodeNetworkParts,
  networkBytesHead,
} from './encoder.ts'
export { endOfValue } from './header.ts'
export { decodeLazily } from './lazy-map.ts'
export { asReceived } from './received.ts'
export { StreamDecoder } from './stream-decoder.ts'
export { refuseUnencodable } from './unencodable.ts'
export { DateTime, Float, NamedConstant, type Value } from './values.ts'
