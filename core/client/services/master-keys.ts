import type { Log } from '../../author/context.ts'
import type { KeyAdmin } from '../../author/master.ts'
import type { MasterConfig } from '../../config/index.ts'
import {
  allKeys,
  fingerKeys,
  fingerMaster,
  generateKeyFiles,
  generateKeyTexts,
  generateSignature,
  listKeys,
  masterKeyText,
  matchKeys,
  type Operator,
  printKeys,
} from '../../keys/index.ts'
import { openKeys } from '../local/open-keys.ts'

/** Offer the keys of minions to wheel functions and runners. */
export function createKeyAdmin(config: MasterConfig, log: Log, who: Operator): KeyAdmin {
  const { manager, store } = openKeys({ config, who, by: 'wheel', warn: (text) => log.warn(text) })
  return {
    list: (word) => listKeys(store, word),
    all: () => allKeys(store, config.pki_dir),
    match: (match) => matchKeys(store, match),
    accept: (match, options) => manager.accept(match, options),
    acceptDict: (keys, options) => manager.acceptDict(keys, options),
    reject: (match, options) => manager.reject(match, options),
    rejectDict: (keys, options) => manager.rejectDict(keys, options),
    delete: (match) => manager.delete(match),
    deleteDict: (keys) => manager.deleteDict(keys),
    print: (match) => printKeys(store, config, match),
    finger: (match, hash) => fingerKeys(store, config, match, hash),
    master: () => masterKeyText(config),
    fingerMaster: (hash) => fingerMaster(config, hash),
    generate: (keysize) => generateKeyTexts(keysize),
    generateAccepted: (id, options) => manager.genAccept(id, options),
    generateFiles: async ({ keydir, keyname, keysize, user }) => {
      const { fingerprint } = await generateKeyFiles({
        keydir: keydir ?? config.pki_dir,
        keyname: keyname ?? 'minion',
        keysize: keysize ?? config.keysize,
        user: user ?? config.user,
        hash: config.hash_type,
      })
      return fingerprint
    },
    generateSignature: (request) => generateSignature(config, request),
  }
}
