import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { SaltInvocationError } from 'salt-ts'

export interface Digest {
  readonly type: string
  /** Hexadecimal, lower case. */
  readonly sum: string
}

/** Hash types by the number of hexadecimal digits. */
const types = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [56, 'sha224'],
  [64, 'sha256'],
  [96, 'sha384'],
  [128, 'sha512'],
])

/** Parse `sha256=…` or a bare digest. @throws SaltInvocationError for anything else, also for paths and URLs */
export function readDigest(source: string): Digest {
  const [, given, sum = ''] = /^(?:(\w+)[=:])?([\da-f]+)$/i.exec(source.trim()) ?? []
  const type = types.get(sum.length)
  if (type && (given === undefined || given.toLowerCase() === type)) return { type, sum: sum.toLowerCase() }
  throw new SaltInvocationError(
    `source_hash must be a hexadecimal digest such as sha256=9f86d0…, not '${source}'`,
  )
}

export async function digestOf(path: string, type: string): Promise<string> {
  const hash = createHash(type)
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return hash.digest('hex')
}

/** Whether a file exists and has the digest. */
export const hasDigest = (path: string, { type, sum }: Digest): Promise<boolean> =>
  digestOf(path, type).then(
    (found) => found === sum,
    () => false,
  )
