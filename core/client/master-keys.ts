import type { Log } from '../author/context.ts'
import type { KeyAdmin } from '../author/master.ts'
import type { MasterConfig } from '../config/index.ts'
import {
  allKeys,
  fingerKeys,
  fingerMaster,
  generateKeyTexts,
  listKeys,
  masterKeyText,
  matchKeys,
  type Operator,
  printKeys,
} from '../keys/index.ts'
import { openKeyClient } from './key-client.ts'

/** The keys of minions, for wheel functions and runners. */
export function createKeyAdmin(config: MasterConfig, log: Log, who: Operator): KeyAdmin {
  const { store, manager } = openKeyClient({ config, who, by: 'wheel', warn: (text) => log.warn(text) })
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
  }
}
