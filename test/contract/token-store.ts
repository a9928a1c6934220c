/** What every store of tokens does. */
import { describe, expect, test } from 'vitest'
import type { TokenRecord, TokenStore } from '../../core/auth/tokens/contract.ts'
import { type Need, needs } from '../harness/needs.ts'

const now = () => Date.now() / 1000

export function tokenRecord(more: Partial<TokenRecord> = {}): TokenRecord {
  const start = now()
  return { start, expire: start + 60, name: 'fred', eauth: 'pam', groups: ['ops'], ...more }
}

export function conformance(name: string, open: () => Promise<TokenStore>, ...needed: readonly Need[]): void {
  const using = async (use: (store: TokenStore) => Promise<void>) => {
    const store = await open()
    await use(store).finally(() => store.close())
  }

  describe(`tokens in ${name}`, needs(...needed), () => {
    test('are found as they were stored, also by another process that has the store open', async () => {
      const record = tokenRecord({ permissions: ['test.*', { 'web*': ['pkg.*'] }], rights: 'abc' })
      await using(async (store) => {
        await store.put('d1', record)
        expect(await store.get('d1')).toEqual(record)
      })
      await using(async (store) => expect(await store.get('d1')).toEqual(record))
    })

    test('that were never stored are not found', () =>
      using(async (store) => {
        expect(await store.get('nothing')).toBeUndefined()
        expect(await store.get('__proto__')).toBeUndefined()
        expect(await store.remove('nothing')).toBe(false)
      }))

    test('are removed once', () =>
      using(async (store) => {
        await store.put('d2', tokenRecord())
        const removed = await Promise.all([store.remove('d2'), store.remove('d2')])
        expect(removed.sort()).toEqual([false, true])
        expect(await store.get('d2')).toBeUndefined()
      }))

    test('that expired are forgotten, and no others', () =>
      using(async (store) => {
        await store.put('old', tokenRecord({ expire: now() - 1 }))
        await store.put('new', tokenRecord())
        await store.expire(now())
        expect([await store.get('old'), (await store.get('new'))?.name]).toEqual([undefined, 'fred'])
      }))
  })
}
