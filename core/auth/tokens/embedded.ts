import { join } from 'node:path'
import { makeDirectory } from '../../base/files/directory.ts'
import {
  keysUnder,
  openStore,
  type StoreChange,
  type StoreKey,
  type StoreOptions,
} from '../../store/index.ts'
import type { TokenRecord, TokenStore } from './contract.ts'
import { readRecord } from './record.ts'

/** Return the path of the file inside `directory`. */
export const tokenFile = (directory: string): string => join(directory, 'tokens.mdb')

const CHANGES: StoreKey = ['changes']
const keyOf = (digest: string): StoreKey => ['token', digest]

/** The token store of one master. */
export interface EmbeddedTokens extends TokenStore {
  /** Return the digests of all tokens. */
  digests(): string[]
  /** Return a number that is greater after each change. */
  changes(): number
}

/** Open the token store in LMDB, which all processes of a master share. @throws SaltError STORE_FAILED */
export async function openEmbeddedTokens(directory: string, options?: StoreOptions): Promise<EmbeddedTokens> {
  await makeDirectory(directory)
  const store = openStore(tokenFile(directory), options)
  const get = (digest: string): TokenRecord | undefined => readRecord(store.get(keyOf(digest)))
  const countChange = (records: StoreChange) => records.put(CHANGES, Number(records.get(CHANGES) ?? 0) + 1)
  const digests = () => Array.from(store.keys(keysUnder('token')), (key) => String(key[1]))
  return {
    digests,
    changes: () => Number(store.get(CHANGES) ?? 0),
    put: (digest, record) =>
      store.change((records) => {
        records.put(keyOf(digest), { ...record })
        countChange(records)
      }),
    get: async (digest) => get(digest),
    remove: (digest) =>
      store.change((records) => {
        if (!records.has(keyOf(digest))) return false
        records.remove(keyOf(digest))
        countChange(records)
        return true
      }),
    async expire(now) {
      const old = [...store.entries(keysUnder('token'))].filter(
        ({ value }) => (readRecord(value)?.expire ?? 0) < now,
      )
      if (old.length > 0)
        await store.change((records) => {
          for (const { key } of old) records.remove(key)
          countChange(records)
        })
      return old.length
    },
    close: () => store.close(),
  }
}
