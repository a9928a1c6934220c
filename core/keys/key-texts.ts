import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyTexts } from '../author/master.ts'
import type { MasterConfig } from '../config/index.ts'
import { fingerprint } from '../crypto/index.ts'
import { keyFileDamage, readKeyText } from './key-files.ts'
import { type KeysBySection, matchAllKeys, matchKeys } from './key-lists.ts'
import type { KeyStore } from './key-store.ts'

type Config = Pick<MasterConfig, 'pki_dir' | 'hash_type'>

const PUBLIC = 'master.pub'

/** Return the PEM texts of the keys that match a pattern. */
export async function printKeys(store: KeyStore, config: Config, match: string): Promise<KeyTexts> {
  return textsOf(await matchKeys(store, match), config.pki_dir, (pem) => pem)
}

/** Return the fingerprints of the keys that match a pattern, including the master's own. */
export async function fingerKeys(
  store: KeyStore,
  config: Config,
  match: string,
  hash: string = config.hash_type,
): Promise<KeyTexts> {
  const lists = await matchAllKeys(store, match, config.pki_dir)
  return textsOf(lists, config.pki_dir, (pem) => fingerprint(pem, hash))
}

/** Return the master's public key as PEM. */
export async function masterKeyText({ pki_dir }: Config): Promise<KeyTexts> {
  return { local: { [PUBLIC]: await readFile(join(pki_dir, PUBLIC), 'utf8') } }
}

export async function fingerMaster(config: Config, hash: string = config.hash_type): Promise<KeyTexts> {
  const { local } = await masterKeyText(config)
  return { local: { [PUBLIC]: fingerprint(local?.[PUBLIC] ?? '', hash) } }
}

/** Return what `shown` makes of the text of each key; for a damaged file, what is wrong with it. */
async function textsOf(
  lists: KeysBySection,
  pkiDir: string,
  shown: (pem: string) => string,
): Promise<KeyTexts> {
  const sections = Object.entries(lists).map(async ([section, names]) => {
    const folder = section === 'local' ? pkiDir : join(pkiDir, section)
    const texts = names.map(async (name) => {
      const path = join(folder, name)
      const pem = await readKeyText(path)
      return [name, pem === undefined ? undefined : (keyFileDamage(path, pem) ?? shown(pem))] as const
    })
    // A key may be moved or deleted at any time.
    const found = (await Promise.all(texts)).filter(([, text]) => text !== undefined)
    return [section, Object.fromEntries(found)]
  })
  return Object.fromEntries(await Promise.all(sections))
}
