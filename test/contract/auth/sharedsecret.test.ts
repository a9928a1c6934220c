import { describe, expect, test } from 'vitest'
import { authContract, openBackend, PASSWORD } from '../auth.ts'

await authContract({
  name: 'sharedsecret',
  anyName: true,
  async prepare() {
    return {
      opts: { sharedsecret: PASSWORD },
      right: { username: 'fred', password: PASSWORD },
      known: { name: 'fred' },
      drop: async () => {},
    }
  },
  wrongSetups: () => ({
    'there is no secret': { setup: {}, says: 'sharedsecret is missing.' },
    'it is no text': { setup: { opts: { sharedsecret: 17 } }, says: 'sharedsecret must be text' },
  }),
})

describe('sharedsecret', () => {
  test('accepts the secret under its own name, too, and then ignores the password', async () => {
    const { ask } = openBackend('sharedsecret')
    const setup = { opts: { sharedsecret: 'of a proxy with Kerberos' } }
    expect(await ask({ username: 'fred', sharedsecret: 'of a proxy with Kerberos' }, setup)).toEqual({
      name: 'fred',
    })
    expect(
      await ask({ username: 'fred', sharedsecret: 'wrong', password: 'of a proxy with Kerberos' }, setup),
    ).toEqual({ refused: 'the secret is wrong' })
  })

  test('warns of a secret that is easy to guess', async () => {
    const { check, lines } = openBackend('sharedsecret')
    expect(await check({ opts: { sharedsecret: 'short' } })).toEqual([])
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('can be guessed')])
  })
})
