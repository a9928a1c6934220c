import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { closest } from '../../../core/base/closest.ts'
import { deferred } from '../../../core/base/deferred.ts'
import { MASK, Secret } from '../../../core/base/secret.ts'

describe('deferred', () => {
  test('is settled from outside', async () => {
    const yes = deferred<number>()
    yes.resolve(3)
    expect(await yes.promise).toBe(3)
    const no = deferred()
    no.reject(new Error('no'))
    await expect(no.promise).rejects.toThrow('no')
  })
})

describe('Secret', () => {
  test('shows a mask however it is printed, and the text only on request', () => {
    const secret = new Secret('hunter2')
    expect([`${secret}`, JSON.stringify({ secret }), inspect({ secret })].join()).not.toContain('hunter2')
    expect(String(secret)).toBe(MASK)
    expect(secret.reveal()).toBe('hunter2')
  })
})

describe('closest', () => {
  const keys = ['publish_port', 'pub_hwm', 'interface', 'id', 'user']
  test.each([
    ['publsh_port', 'publish_port'],
    ['publish_prot', 'publish_port'],
    ['Interface', 'interface'],
    ['usr', 'user'],
    ['di', 'id'],
    ['completely_different', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('finds for %.20s the most similar word: %s', (word, expected) => {
    expect(closest(word, keys)).toBe(expected)
  })
})
