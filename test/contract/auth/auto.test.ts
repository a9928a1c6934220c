import { describe, expect, test } from 'vitest'
import { authContract, openBackend, PASSWORD } from '../auth.ts'

await authContract({
  name: 'auto',
  open: true,
  async prepare() {
    return { right: { username: 'fred', password: PASSWORD }, known: { name: 'fred' }, drop: async () => {} }
  },
})

describe('auto', () => {
  test('warns each time a master starts', async () => {
    const { check, lines } = openBackend('auto')
    await check({})
    await check({})
    expect(lines.map(({ level, message }) => [level, message])).toEqual(
      Array(2).fill(['warn', expect.stringContaining('for development only')]),
    )
  })

  test('refuses every user if external_auth does not name it', async () => {
    const { ask, check, lines } = openBackend('auto')
    const opts = { external_auth: { pam: {} } }
    expect(await ask({ username: 'fred' }, { opts })).toEqual({ refused: 'external_auth does not name auto' })
    await check({ opts })
    expect(lines).toEqual([])
  })
})
