/** Write tar archives (ustar) of small files. */

export interface TarFile {
  /** At most 100 bytes, ASCII. */
  readonly name: string
  readonly content: string
  readonly mode: number
}

const BLOCK_BYTES = 512
/** Archives end with two empty blocks and are padded to records of 20 blocks. */
const RECORD_BYTES = 20 * BLOCK_BYTES

export function tarOf(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap((file) => {
    const content = Buffer.from(file.content)
    return [headerOf(file, content.length), padded(content, BLOCK_BYTES)]
  })
  return padded(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]), RECORD_BYTES)
}

function headerOf({ name, mode }: TarFile, size: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  header.write(name, 0, 100, 'ascii')
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100)
  header.write(`${octal(size, 11)}\0${octal(Math.trunc(Date.now() / 1000), 11)}\0`, 124)
  header.write('        0', 148) // the checksum counts its own field as blanks; then the type: a file
  header.write('ustar\x0000', 257)
  header.write('root', 265)
  header.write('root', 297)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')

const padded = (bytes: Buffer, unit: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((unit - (bytes.length % unit)) % unit)])
