/** A value that is encoded already, as `encodeNetwork` does it. Encoders copy its bytes unchanged. */
export class Encoded {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
