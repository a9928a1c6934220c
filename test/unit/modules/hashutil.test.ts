import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as hashutil from '../../../modules/hashutil.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { call } from './context.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-hashutil-')
})
afterEach(() => removeFolder(folder))

describe('Digests', () => {
  test('of a text', async () => {
    expect(await call(hashutil.digest, { instr: 'get salted' })).toBe('2aacf29e92feaf528fb738bcf9d647ac')
    expect(await call(hashutil.md5_digest, { instr: 'get salted' })).toBe('2aacf29e92feaf528fb738bcf9d647ac')
    const sha256 = await call(hashutil.sha256_digest, { instr: 'get salted' })
    expect(sha256).toMatch(/^[\da-f]{64}$/)
    expect(await call(hashutil.digest, { instr: 'get salted', checksum: 'sha256' })).toBe(sha256)
    expect(await call(hashutil.sha512_digest, { instr: 'get salted' })).toHaveLength(128)
  })

  test('of a file are those of its content', async () => {
    const infile = join(folder, 'file')
    await writeFile(infile, 'get salted')
    for (const checksum of ['md5', 'sha256', 'sha512'])
      expect(await call(hashutil.digest_file, { infile, checksum })).toBe(
        await call(hashutil.digest, { instr: 'get salted', checksum }),
      )
  })

  test('of an unknown kind, or of a path that is no file, are refused', async () => {
    await expect(call(hashutil.digest, { instr: 'x', checksum: 'sha1' })).rejects.toThrow(
      "Hash func 'sha1' is not supported.",
    )
    for (const infile of [join(folder, 'none'), folder])
      await expect(call(hashutil.digest_file, { infile })).rejects.toThrow(`File path '${infile}' not found.`)
  })
})

describe('Base64', () => {
  test('of a text, with and without line breaks', async () => {
    expect(await call(hashutil.base64_b64encode, { instr: 'get salted' })).toBe('Z2V0IHNhbHRlZA==')
    expect(await call(hashutil.base64_encodestring, { instr: 'get salted' })).toBe('Z2V0IHNhbHRlZA==\n')
    expect(await call(hashutil.base64_encodestring, { instr: 'x'.repeat(58) })).toBe(
      `${'eHh4'.repeat(19)}\neA==\n`,
    )
    expect(await call(hashutil.base64_encodestring, { instr: '' })).toBe('')
  })

  test.each([
    ['Z2V0IHNhbHRlZA==', 'get salted'],
    ['Z2V0IHNh\nbHRlZAo=\n', 'get salted\n'],
    ['Z2V0-IHNhbHRlZA==', 'get salted'],
    ['Z2V0IHNhbHRlZA==eHh4', 'get salted'],
    ['', ''],
  ])('%j is decoded as in Python', async (instr, text) => {
    expect(String(await call(hashutil.base64_b64decode, { instr }))).toBe(text)
    expect(String(await call(hashutil.base64_decodestring, { instr }))).toBe(text)
  })

  test('that is truncated is refused', async () => {
    await expect(call(hashutil.base64_b64decode, { instr: 'Z2V0IHNhbHRlZA' })).rejects.toThrow(
      'Incorrect padding',
    )
    await expect(call(hashutil.base64_b64decode, { instr: 'Z2V0I' })).rejects.toThrow(
      'number of data characters (5) cannot be 1 more than a multiple of 4',
    )
  })

  test('of a file goes there and back, byte by byte', async () => {
    const [from, outfile] = [join(folder, 'from'), join(folder, 'to')]
    const bytes = Buffer.from([0, 255, 10, 128, 13])
    await writeFile(from, bytes)
    await writeFile(outfile, 'old')
    await chmod(outfile, 0o640)
    const instr = await call(hashutil.base64_encodefile, { fname: from })
    expect(await call(hashutil.base64_decodefile, { instr, outfile })).toBe(true)
    expect(await readFile(outfile)).toEqual(bytes)
    expect((await stat(outfile)).mode & 0o777).toBe(0o640)
  })

  test('is not written through a link in a folder that everybody may write', async () => {
    await writeFile(join(folder, 'victim'), 'mine')
    const outfile = join(folder, 'link')
    await symlink(join(folder, 'victim'), outfile)
    await chmod(folder, 0o1777)
    await expect(call(hashutil.base64_decodefile, { instr: 'eA==', outfile })).rejects.toThrow(
      'is a link in a folder where everybody may write',
    )
    await chmod(folder, 0o755)
    await call(hashutil.base64_decodefile, { instr: 'eA==', outfile })
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('x')
  })

  test('from and to a path that is no file is refused', async () => {
    await expect(call(hashutil.base64_encodefile, { fname: join(folder, 'none') })).rejects.toThrow(
      'none cannot be read: ENOENT',
    )
    await expect(call(hashutil.base64_decodefile, { instr: 'eA==', outfile: folder })).rejects.toThrow(
      'is a folder',
    )
    const outfile = join(folder, 'a', 'b')
    await expect(call(hashutil.base64_decodefile, { instr: 'eA==', outfile })).rejects.toThrow('ENOENT')
  })
})

describe('Signatures', () => {
  const [string, shared_secret] = ['get salted', 'shared secret']

  test('are verified', async () => {
    const good = 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='
    expect(await call(hashutil.hmac_signature, { string, shared_secret, challenge_hmac: good })).toBe(true)
    expect(await call(hashutil.hmac_signature, { string, shared_secret, challenge_hmac: 'eBWf' })).toBe(false)
    expect(await call(hashutil.hmac_compute, { string, shared_secret })).toBe(
      Buffer.from(good, 'base64').toString('hex'),
    )
  })

  test('of GitHub are verified, with either hash', async () => {
    const sum = await call(hashutil.hmac_compute, { string, shared_secret })
    const verify = (challenge_hmac: string) =>
      call(hashutil.github_signature, { string, shared_secret, challenge_hmac })
    expect(await verify(`sha256=${sum}`)).toBe(true)
    expect(await verify('sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206')).toBe(false)
    expect(await verify('sha3_256=00')).toBe(false)
    await expect(verify('crc=1')).rejects.toThrow("The signature 'crc=1' has to be the name of a hash")
  })
})
