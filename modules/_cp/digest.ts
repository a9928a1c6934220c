import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { SaltInvocationError } from 'salt-ts'

export interface Digest {
  readonly type: string
  /** Hexadecimal, small letters. */
  readonly sum: string
}

/** By the number of hexadecimal digits. */
const types = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [56, 'sha224'],
  [64, 'sha256'],
  [96, 'sha384'],
  [128, 'sha512'],
])

/** Reads `sha256=…` or a bare digest. @throws SaltInvocationError for anything else: it is never taken for a path or URL */
export function readDigest(source: string): Digest {
  const [, sum = ''] = /^(?:\w+[=:])?([\da-f]+)$/i.exec(source.trim()) ?? []
  const type = types.get(sum.length)
  if (type) return { type, sum: sum.toLowerCase() }
  throw new SaltInvocationError(
    `source_hash must be a digest in hexadecimal, as in sha256=9f86d0…, not '${source}'`,
  )
}

export async function digestOf(path: string, type: string): Promise<string> {
  const hash = createHash(type)
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return hash.digest('hex')
}

/** Whether a file is there and has the digest. */
export const hasDigest = (path: string, { type, sum }: Digest): Promise<boolean> =>
  digestOf(path, type).then(
    (found) => found === sum,
    () => false,
  )
