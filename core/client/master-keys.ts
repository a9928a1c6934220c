import type { Log } from '../author/context.ts'
import type { KeyAdmin } from '../author/master.ts'
import type { MasterConfig } from '../config/index.ts'
import type { Operator } from '../keys/index.ts'
import { openKeyClient } from './key-client.ts'

/** The keys of minions, for wheel functions and runners. */
export function createKeyAdmin(config: MasterConfig, log: Log, who: Operator): KeyAdmin {
  const { manager, view } = openKeyClient({ config, who, by: 'wheel', warn: (text) => log.warn(text) })
  return {
    list: (word) => view.list(word),
    all: () => view.listAll(),
    match: (match) => view.nameMatch(match),
    accept: (match, options) => manager.accept(match, options),
    acceptDict: (keys, options) => manager.acceptDict(keys, options),
    reject: (match, options) => manager.reject(match, options),
    rejectDict: (keys, options) => manager.rejectDict(keys, options),
    delete: (match) => manager.delete(match),
    deleteDict: (keys) => manager.deleteDict(keys),
    print: (match) => view.print(match),
    finger: (match, hash) => view.finger(match, hash),
    master: () => view.masterKeyStr(),
    fingerMaster: (hash) => view.fingerMaster(hash),
    generate: (keysize) => view.gen(keysize),
    generateAccepted: (id, options) => manager.genAccept(id, options),
    generateFiles: async ({ keydir, keyname, keysize, user }) => {
      const made = await view.genKeys({
        keydir: keydir ?? config.pki_dir,
        keyname: keyname ?? 'minion',
        keysize: keysize ?? config.keysize,
        user: user ?? config.user,
        hash: config.hash_type,
      })
      return made.fingerprint
    },
    generateSignature: (request) => view.genSignature(request),
  }
}
