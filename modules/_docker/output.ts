/** What a container has written. */
export interface Output {
  readonly stdout: string
  readonly stderr: string
  /** Both, in order. */
  readonly all: string
}

const HEADER_BYTES = 8

/**
 * Separate the streams of a container. Docker puts a header before each piece: the number of its stream, three zeros and its length.
 * A container with a terminal has one stream without headers.
 */
export function readOutput(bytes: Buffer): Output {
  const pieces = { 0: [] as Buffer[], 1: [] as Buffer[], 2: [] as Buffer[] }
  const all: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const stream = bytes[at] as 0 | 1 | 2
    const isHeader = at + HEADER_BYTES <= bytes.length && stream <= 2 && bytes.readUIntBE(at + 1, 3) === 0
    if (!isHeader) return plain(bytes)
    const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4)
    const piece = bytes.subarray(at + HEADER_BYTES, end)
    pieces[stream].push(piece)
    all.push(piece)
    at = end
  }
  const text = (list: readonly Buffer[]) => Buffer.concat(list).toString('utf8')
  return { stdout: text(pieces[1]), stderr: text(pieces[2]), all: text(all) }
}

function plain(bytes: Buffer): Output {
  const text = bytes.toString('utf8')
  return { stdout: text, stderr: '', all: text }
}
