import { join } from 'node:path'
import { makeDirectory } from '../../base/files/directory.ts'
import { keysUnder, openStore, type StoreKey, type StoreOptions } from '../../store/index.ts'
import type { TokenRecord, TokenStore } from './contract.ts'
import { readRecord } from './record.ts'

/** Return the path of the file inside `directory`. */
export const tokenFile = (directory: string): string => join(directory, 'tokens.mdb')

const keyOf = (digest: string): StoreKey => ['token', digest]

/** Open the token store in LMDB, which all processes of a master share. @throws SaltError STORE_FAILED */
export async function openEmbeddedTokens(directory: string, options?: StoreOptions): Promise<TokenStore> {
  await makeDirectory(directory)
  const store = openStore(tokenFile(directory), options)
  const get = (digest: string): TokenRecord | undefined => readRecord(store.get(keyOf(digest)))
  return {
    put: (digest, record) => store.put(keyOf(digest), { ...record }),
    get: async (digest) => get(digest),
    remove: (digest) =>
      store.change((records) => {
        if (!records.has(keyOf(digest))) return false
        records.remove(keyOf(digest))
        return true
      }),
    async expire(now) {
      const old = [...store.entries(keysUnder('token'))].filter(
        ({ value }) => (readRecord(value)?.expire ?? 0) < now,
      )
      await Promise.all(old.map(({ key }) => store.remove(key)))
      return old.length
    },
    close: () => store.close(),
  }
}
