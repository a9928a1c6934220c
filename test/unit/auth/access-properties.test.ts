import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argumentText } from '../../../core/auth/argument-text.ts'
import { rightsDigest } from '../../../core/auth/tokens/rights-digest.ts'
import { Float } from '../../../core/dialect/float.ts'
import { fred, open, publish, run } from './_access.ts'

const word = fc.stringMatching(/^[a-z_]{1,8}$/)
const fun = fc.tuple(word, word).map((parts) => parts.join('.'))
const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, maxDepth: 3 })
const json = fc.jsonValue({ maxDepth: 4 })

describe('with any configuration', () => {
  test('reading it and authorizing by it never throws, and unreadable rules allow nothing', () => {
    fc.assert(
      fc.property(json, fun, fc.array(anything), (entries, name, args) => {
        const { access } = open({ external_auth: { pam: { fred: entries } } })
        for (const call of [
          publish(name, ['web1'], args),
          run('runner', name, args),
          run('wheel', name, args),
        ]) {
          const verdict = access.authorize(fred, [call])
          if (!Array.isArray(entries)) expect(verdict.allowed).toBe(false)
        }
      }),
    )
  })

  test('permissions of a backend are read just as safely', () => {
    fc.assert(
      fc.property(fc.array(anything), fun, (permissions, name) => {
        const { access } = open({})
        access.authorize({ ...fred, permissions }, [publish(name)])
      }),
    )
  })
})

test('a rule for one function allows that function and no other', () => {
  fc.assert(
    fc.property(fun, fc.string(), (name, other) => {
      const { access } = open({ external_auth: { pam: { fred: [name.replace('.', '\\.')] } } })
      expect(access.authorize(fred, [publish(name)]).allowed).toBe(true)
      expect(access.authorize(fred, [publish(other)]).allowed).toBe(other === name)
    }),
  )
})

test('a job is allowed only if each of its functions is', () => {
  fc.assert(
    fc.property(fc.array(fun, { minLength: 1 }), fc.array(fun), (allowed, wanted) => {
      const { access } = open({
        external_auth: { pam: { fred: allowed.map((name) => name.replace('.', '\\.')) } },
      })
      const verdict = access.authorize(
        fred,
        wanted.map((name) => publish(name)),
      )
      expect(verdict.allowed).toBe(wanted.length > 0 && wanted.every((name) => allowed.includes(name)))
    }),
  )
})

test('no user gets the permissions of a user with a similar name', () => {
  fc.assert(
    fc.property(word, fc.string(), (name, other) => {
      const { access } = open({ external_auth: { pam: { [name]: ['.*'] } } })
      const allowed = access.authorize({ ...fred, name: other }, [publish('test.ping')]).allowed
      expect(allowed).toBe(other === name)
    }),
  )
})

test('the digest of permissions changes with their content, and not with the order of keys in maps', () => {
  fc.assert(
    fc.property(fc.dictionary(word, json), json, (map, other) => {
      const turned = Object.fromEntries(Object.entries(map).reverse())
      const digest = (entry: unknown) => rightsDigest({ source: 'external_auth.pam', entries: [entry] })
      expect(digest(turned)).toBe(digest(map))
      if (JSON.stringify(other) !== JSON.stringify(map) && Object.keys(map).length === 0)
        expect(digest(other)).not.toBe(digest(map))
    }),
  )
})

describe('arguments are compared as the text Python has for them', () => {
  test.each<[unknown, string]>([
    ['a b', 'a b'],
    [true, 'True'],
    [null, 'None'],
    [5, '5'],
    [1.5, '1.5'],
    [new Float(3), '3.0'],
    [10n ** 20n, '100000000000000000000'],
    [['a', 1, null], "['a', 1, None]"],
    [{ a: [true], b: 'x' }, "{'a': [True], 'b': 'x'}"],
    [new Map<unknown, unknown>([[1, 'x']]), "{1: 'x'}"],
    [["it's"], '["it\'s"]'],
    [['\'"'], "['\\'\"']"],
    [['a\nb\\'], "['a\\nb\\\\']"],
    [Buffer.from('ab'), "b'ab'"],
  ])('%#', (value, text) => {
    expect(argumentText(value)).toBe(text)
  })
})
