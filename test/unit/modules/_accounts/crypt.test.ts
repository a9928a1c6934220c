import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { hashPassword } from '../../../../modules/_accounts/crypt.ts'
import { needs, program } from '../../../harness/needs.ts'

const { signal } = new AbortController()
const OPTIONS = { sha512: '-6', sha256: '-5', md5: '-1' } as const
type Algorithm = keyof typeof OPTIONS
const byOpenssl = (algorithm: Algorithm, salt: string, password: string) =>
  execFileSync('openssl', ['passwd', OPTIONS[algorithm], '-salt', salt, '-stdin'], { input: `${password}\n` })
    .toString()
    .trim()

describe('Password hashes', () => {
  test.each([
    [
      'sha512',
      'saltstring',
      'Hello world!',
      '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
    ],
    [
      'sha512',
      'rounds=10000$saltstringsaltstring',
      'Hello world!',
      '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
    ],
    ['sha256', 'saltstring', 'Hello world!', '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5'],
    [
      'sha256',
      'rounds=10$roundstoolow',
      'the minimum number is still observed',
      '$5$rounds=1000$roundstoolow$yfvwcWrQ8l/K0DAWyuPMDNHpIVlTQebY9l/gL972bIC',
    ],
  ] as const)(
    'are those of crypt(3), for %s with the salt %s (recorded)',
    async (algorithm, salt, password, hash) => {
      expect(await hashPassword(password, salt, algorithm, signal)).toBe(hash)
    },
  )

  const passwords = ['x', 'Hello world!', 'p'.repeat(63), 'p'.repeat(64), 'é€😀'.repeat(20), '0'.repeat(200)]
  const cases = (Object.keys(OPTIONS) as Algorithm[]).flatMap((algorithm) =>
    passwords.map((password, index) => [algorithm, index, password] as const),
  )
  test.each(cases)(
    'are those of OpenSSL: %s of password %i',
    needs(program('openssl')),
    async (algorithm, _, password) => {
      expect(await hashPassword(password, 'saltstr.', algorithm, signal)).toBe(
        byOpenssl(algorithm, 'saltstr.', password),
      )
    },
  )

  test('take a number of rounds from the salt, as OpenSSL does', needs(program('openssl')), async () => {
    const salt = 'rounds=12345$abc'
    expect(await hashPassword('secret', salt, 'sha512', signal)).toBe(byOpenssl('sha512', salt, 'secret'))
  })

  test('have a random salt if none is given', async () => {
    const [one, other] = [1, 2].map(() => hashPassword('secret', undefined, 'sha512', signal))
    expect(await one).toMatch(/^\$6\$[./0-9A-Za-z]{16}\$[./0-9A-Za-z]{86}$/)
    expect(await one).not.toBe(await other)
    expect(await hashPassword('', undefined, 'md5', signal)).toMatch(/^\$1\$[./0-9A-Za-z]{8}\$.{22}$/)
  })

  test('are aborted with their job', async () => {
    const controller = new AbortController()
    const endless = hashPassword('secret', 'rounds=999999999$abc', 'sha256', controller.signal)
    controller.abort()
    await expect(endless).rejects.toThrow('abort')
  })

  test('are refused for other algorithms and for salts that would break a line of the file', async () => {
    await expect(hashPassword('x', undefined, 'blowfish', signal)).rejects.toThrow(
      "Cannot hash using 'blowfish' hash algorithm.",
    )
    await expect(hashPassword('x', 'a:b', 'sha512', signal)).rejects.toThrow('must not contain a colon')
  })
})
