import { createHash } from 'node:crypto'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { hashName } from '../_hashutil/hash-name.ts'
import { chunksOf, readSmallFile, readWhole, withFile } from './reading.ts'

/** Hash types and the number of their hexadecimal digits, in Salt's order. */
const DIGITS: Readonly<Record<string, number>> = {
  sha512: 128,
  sha384: 96,
  sha256: 64,
  sha224: 56,
  sha1: 40,
  md5: 32,
}

const typeByLength = new Map(Object.entries(DIGITS).map(([type, digits]) => [digits, type]))
const typesAndLengths = [...typeByLength]
  .toSorted(([a], [b]) => a - b)
  .map(([digits, type]) => `${type} (${digits})`)
  .join(', ')

/** Compute the digest of a file or of a block device, by the name that a hash has in Python's `hashlib`. */
export async function digest(path: string, type: string, signal?: AbortSignal): Promise<string> {
  const name = hashName(type)
  if (name === undefined) throw new SaltInvocationError(`Invalid hash type: ${type}`)
  const small = readSmallFile(path)
  if (small) return createHash(name).update(small.content).digest('hex')
  return withFile(
    path,
    async (file, stats) => {
      if (stats.isCharacterDevice())
        throw new CommandExecutionError(`${path} is a device that may never end; it has no hash`)
      const hash = createHash(name)
      for await (const piece of chunksOf(file)) {
        signal?.throwIfAborted()
        hash.update(piece)
      }
      return hash.digest('hex')
    },
    { devices: true },
  )
}

/** Split a hash as `file.check_hash` takes it: `sha256:…`, `sha256=…`, or digits whose number tells the type. */
export function splitHash(given: string): { readonly type: string; readonly sum: string } {
  const separated = /^([^:=]*)[:=](.*)$/s.exec(given)
  if (separated) return { type: separated[1] as string, sum: separated[2] as string }
  const type = typeByLength.get(given.length)
  if (type) return { type, sum: given }
  throw new SaltInvocationError(
    `Hash ${given} (length: ${given.length}) could not be matched to a supported hash type. The supported hash types and lengths are: ${typesAndLengths}`,
  )
}

export interface SourceSum {
  readonly hash_type: string
  readonly hsum: string
}

const PROTOCOLS = ['salt', 'file', 'http', 'https', 'ftp', 'swift', 's3']

function invalidSourceHash(given: unknown): CommandExecutionError {
  return new CommandExecutionError(
    `Source hash ${given} format is invalid. The supported formats are: 1) a hash, 2) an expression in the format <hash_type>=<hash>, or 3) either a path to a local file containing hashes, or a URI of a remote hash file. Supported protocols for remote hash files are: ${PROTOCOLS.join(', ')}. The hash may also not be of a valid length, the following are supported hash types and lengths: ${typesAndLengths}.`,
  )
}

/** Whether a source_hash names a file with hashes: an absolute path, or a URL. */
export function namesHashFile(given: string): boolean {
  if (given.startsWith('/')) return true
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(given)?.[1]?.toLowerCase()
  if (scheme !== undefined && !PROTOCOLS.includes(scheme)) throw invalidSourceHash(given)
  return scheme !== undefined
}

/** Read a hash that is written out: `sha256=…` or its digits. */
export function readSourceHash(given: string): SourceSum {
  const at = given.indexOf('=')
  if (at < 0 && !/^[\da-f]+$/i.test(given)) throw invalidSourceHash(given)
  const hsum = at < 0 ? given : given.slice(at + 1).trim()
  const byLength = typeByLength.get(hsum.length)
  const hash_type = at < 0 ? byLength : given.slice(0, at).trim()
  if (hash_type === undefined) throw invalidSourceHash(given)
  if (!Object.hasOwn(DIGITS, hash_type))
    throw new CommandExecutionError(
      `Invalid hash type '${hash_type}'. Supported hash types are: ${Object.keys(DIGITS).join(', ')}. Either remove the hash type and simply use '${hsum}' as the source_hash, or change the hash type to a supported type.`,
    )
  if (byLength === undefined) throw invalidSourceHash(given)
  if (byLength !== hash_type)
    throw new CommandExecutionError(
      `Invalid length (${hsum.length}) for hash type '${hash_type}'. Either remove the hash type and simply use '${hsum}' as the source_hash, or change the hash type to '${byLength}'`,
    )
  return { hash_type, hsum: hsum.toLowerCase() }
}

interface HashNames {
  readonly file_name?: string | undefined
  readonly source?: string | undefined
  readonly source_hash_name?: string | undefined
}

/** Find the hash of a file in a file of hashes; null if there is none. Without a known type any hash counts. */
export async function extractHash(
  place: string,
  hashType: string,
  names: HashNames,
): Promise<SourceSum | null> {
  const content = (await readWhole(place)).toString()
  const rows = content.split(/\r?\n/).flatMap((row) => hashIn(row.trim(), hashType))
  const wanted = [names.source_hash_name, baseName(names.file_name), baseName(names.source)]
  for (const name of wanted.filter(Boolean) as string[]) {
    const row = rows.find(({ line }) => isFor(line, name))
    if (row) return row.sum
  }
  return rows[0]?.sum ?? null
}

function hashIn(line: string, hashType: string) {
  const hsum = /(?<![a-z0-9])[a-f0-9]{32,128}(?![a-z0-9])/i.exec(line)?.[0].toLowerCase()
  const hash_type = typeByLength.get(hsum?.length ?? 0)
  if (hsum === undefined || hash_type === undefined) return []
  if (Object.hasOwn(DIGITS, hashType) && hash_type !== hashType) return []
  return [{ line, sum: { hsum, hash_type } }]
}

const baseName = (path: string | undefined): string | undefined => path?.split('/').at(-1)

/** Whether a row names a file: by its end, or as in `SHA256 (name) = …`. */
function isFor(line: string, name: string): boolean {
  if (line.endsWith(name) && /[\s\\/*]/.test(line.at(-name.length - 1) ?? '')) return true
  return line.includes(`(${name})`) || line.startsWith(`${name} `)
}
