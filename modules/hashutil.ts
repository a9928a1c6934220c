/** Digests, signatures and base64, of texts and files. Digests are hexadecimal. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { CommandExecutionError, fn, p } from 'salt-ts'
import { digestOf } from './_cp/digest.ts'
import { decode, encodeLines } from './_hashutil/base64.ts'
import { hashName } from './_hashutil/hash-name.ts'
import { replaceContent } from './_hashutil/replace-content.ts'
import { textOnly } from './_values/text-only.ts'

const CHECKSUMS = ['md5', 'sha256', 'sha512']

const instr = textOnly()
const checksum = p.default(p.string({ description: 'md5, sha256 or sha512.' }), 'md5')
const secret = p.secret(textOnly())

/**
 * Return the digest of a text.
 *
 * @example salt '*' hashutil.digest 'get salted'
 * @example salt '*' hashutil.digest 'get salted' sha256
 */
export const digest = fn({ instr, checksum }, ({ instr, checksum }) => {
  requireChecksum(checksum)
  return digestOfText(instr, checksum)
})

/**
 * Return the digest of the content of a file.
 *
 * @example salt '*' hashutil.digest_file /path/to/file
 * @example salt '*' hashutil.digest_file /path/to/file sha512
 */
export const digest_file = fn({ infile: p.string(), checksum }, async ({ infile, checksum }) => {
  const found = await stat(infile).catch(() => undefined)
  if (!found?.isFile()) throw new CommandExecutionError(`File path '${infile}' not found.`)
  requireChecksum(checksum)
  return digestOf(infile, checksum).catch(unreadable(infile))
})

/**
 * Encode a text as base64, in one line.
 *
 * @example salt '*' hashutil.base64_b64encode 'get salted'
 */
export const base64_b64encode = fn({ instr }, ({ instr }) => Buffer.from(instr).toString('base64'))

/**
 * Decode base64. Returns text if the bytes are UTF-8, else the bytes.
 *
 * @example salt '*' hashutil.base64_b64decode 'Z2V0IHNhbHRlZA=='
 */
export const base64_b64decode = fn({ instr }, ({ instr }) => decode(instr))

/**
 * Encode a text as base64, in lines of 76 characters that each end with a line break.
 *
 * @example salt '*' hashutil.base64_encodestring 'get salted'
 */
export const base64_encodestring = fn({ instr }, ({ instr }) => encodeLines(Buffer.from(instr)))

/**
 * Read a file and return its content as base64, in lines of 76 characters.
 *
 * @example salt '*' hashutil.base64_encodefile /path/to/binary_file
 */
export const base64_encodefile = fn({ fname: p.string() }, async ({ fname }) =>
  encodeLines(await readFile(fname).catch(unreadable(fname))),
)

/**
 * Decode base64, which may have line breaks. Returns text if the bytes are UTF-8, else the bytes.
 *
 * @example salt '*' hashutil.base64_decodestring instr='Z2V0IHNhbHRlZAo='
 */
export const base64_decodestring = fn({ instr }, ({ instr }) => decode(instr))

/**
 * Decode base64 and write the bytes to a file. Replaces the file atomically, and keeps its owner and mode.
 *
 * @example salt '*' hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile='/path/to/binary_file'
 */
export const base64_decodefile = fn({ instr, outfile: p.string() }, async ({ instr, outfile }) => {
  await replaceContent(outfile, decode(instr))
  return true
})

/**
 * Return the MD5 digest of a text.
 *
 * @example salt '*' hashutil.md5_digest 'get salted'
 */
export const md5_digest = fn({ instr }, ({ instr }) => digestOfText(instr, 'md5'))

/**
 * Return the SHA-256 digest of a text.
 *
 * @example salt '*' hashutil.sha256_digest 'get salted'
 */
export const sha256_digest = fn({ instr }, ({ instr }) => digestOfText(instr, 'sha256'))

/**
 * Return the SHA-512 digest of a text.
 *
 * @example salt '*' hashutil.sha512_digest 'get salted'
 */
export const sha512_digest = fn({ instr }, ({ instr }) => digestOfText(instr, 'sha512'))

/**
 * Whether a signature, the HMAC-SHA256 of a text in base64, was made with the shared secret.
 *
 * @example salt '*' hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='
 */
export const hmac_signature = fn(
  { string: textOnly(), shared_secret: secret, challenge_hmac: p.string() },
  ({ string, shared_secret, challenge_hmac }) =>
    isSame(createHmac('sha256', shared_secret).update(string).digest('base64'), challenge_hmac),
)

/**
 * Return the HMAC-SHA256 of a text with a shared secret, in hexadecimal.
 *
 * @example salt '*' hashutil.hmac_compute 'get salted' 'shared secret'
 */
export const hmac_compute = fn({ string: textOnly(), shared_secret: secret }, ({ string, shared_secret }) =>
  createHmac('sha256', shared_secret).update(string).digest('hex'),
)

/**
 * Whether a signature of a GitHub webhook, such as `sha256=…`, was made with the shared secret.
 *
 * @example salt '*' hashutil.github_signature '{"ref":....} ' 'shared secret' challenge_hmac=sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206
 */
export const github_signature = fn(
  { string: textOnly(), shared_secret: secret, challenge_hmac: p.string() },
  ({ string, shared_secret, challenge_hmac }) => {
    const [, type = '', challenge = ''] = /^(\w+)=([^=]*)$/.exec(challenge_hmac) ?? []
    const name = hashName(type)
    if (name === undefined) {
      throw new CommandExecutionError(
        `The signature '${challenge_hmac}' has to be the name of a hash, '=' and hexadecimal digits, such as sha256=9f86d0…`,
      )
    }
    return isSame(createHmac(name, shared_secret).update(string).digest('hex'), challenge)
  },
)

function requireChecksum(checksum: string): void {
  if (!CHECKSUMS.includes(checksum))
    throw new CommandExecutionError(`Hash func '${checksum}' is not supported.`)
}

const digestOfText = (text: string, type: string) => createHash(type).update(text).digest('hex')

/** Compare two texts in a time that does not depend on where they differ. */
function isSame(computed: string, given: string): boolean {
  const [a, b] = [Buffer.from(computed), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const unreadable = (path: string) => (cause: NodeJS.ErrnoException) => {
  throw new CommandExecutionError(`${path} cannot be read: ${cause.code}`)
}
