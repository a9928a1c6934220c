import { describe, expect, test } from 'vitest'
import { PublicKey } from '../../core/crypto/index.ts'
import { vectors } from '../harness/vectors.ts'
import { expectSignIn, publicKeyOf, type SignIn } from './recorded.ts'

const auth = vectors<{ items: SignIn[]; captured: SignIn[] }>('auth')
const generation3 = vectors<{ sign_in: { items: SignIn[]; captured: SignIn[] } }>('generation-3')

describe('sign-ins recorded from Salt', () => {
  test.each(auth.items)('generation 2, one request: $name', expectSignIn)

  test.each(auth.captured)('generation 2, a real minion: $name', expectSignIn)

  test.each(generation3.sign_in.items)('generation 3, one request: $name', expectSignIn)

  test.each(generation3.sign_in.captured)('generation 3, a real minion: $name', expectSignIn)

  test.each(generation3.sign_in.captured)(
    "the key offered by $name is the minion's, unless denied",
    (item) => {
      const { id, pub } = item.request.load
      expect(PublicKey.parse(String(pub)).equals(publicKeyOf(String(id)))).toBe(
        !item.name?.endsWith('denied'),
      )
    },
  )
})
