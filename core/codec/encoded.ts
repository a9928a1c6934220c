/** A value that is MessagePack already, as `encodeNetwork` writes it: encoders write its bytes as they are. */
export class Encoded {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
