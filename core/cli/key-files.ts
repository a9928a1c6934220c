/** What `salt-key` shows of keys, and the files it makes. */
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileExclusive, writeFileAtomic } from '../base/atomic-file.ts'
import { SaltError } from '../base/errors.ts'
import { fnmatch } from '../base/fnmatch.ts'
import type { MasterConfig } from '../config/index.ts'
import { fingerprint, PrivateKey } from '../crypto/index.ts'
import { type KeyState, type KeyStore, loadMasterKeys } from '../keys/index.ts'
import { meantKeys, SECTIONS } from './key-actions.ts'

const ALL: readonly KeyState[] = SECTIONS.map(([, state]) => state)

/** Words of `salt-key -l`, as far as they are typed. */
const LISTS: readonly (readonly [start: string, states: readonly KeyState[]])[] = [
  ['acc', ['accepted']],
  ['pre', ['pending']],
  ['un', ['pending']],
  ['rej', ['rejected']],
  ['den', ['denied']],
  ['all', ALL],
]

/** Section → ids for a word of `-l`; undefined for a word that is none. */
export async function listKeys(word: string, store: KeyStore): Promise<Record<string, string[]> | undefined> {
  const states = LISTS.find(([start]) => word.startsWith(start))?.[1]
  if (!states) return undefined
  const sections = SECTIONS.filter(([, state]) => states.includes(state))
  return Object.fromEntries(
    await Promise.all(sections.map(async ([name, state]) => [name, await store.list(state)])),
  )
}

/** Section → id → PEM text, for the keys a pattern means. */
export async function printKeys(
  match: string,
  store: KeyStore,
): Promise<Record<string, Record<string, string>>> {
  const shown: Record<string, Record<string, string>> = {}
  for (const [section, ids] of Object.entries(await meantKeys(match, ALL, store))) {
    const state = SECTIONS.find(([name]) => name === section)?.[1]
    const pems = ids.map(async (id) => [id, (await store.read(id, state))?.pem.trim() ?? ''])
    shown[section] = Object.fromEntries(await Promise.all(pems))
  }
  return shown
}

/** The same with fingerprints, and those of the master's own files that the pattern means. */
export async function fingerKeys(
  match: string,
  store: KeyStore,
  config: MasterConfig,
): Promise<Record<string, Record<string, string>>> {
  const shown = await printKeys(match, store)
  const local = await localKeys(match, config)
  const all = Object.keys(local).length > 0 ? { local, ...shown } : shown
  for (const keys of Object.values(all)) {
    for (const [name, pem] of Object.entries(keys)) keys[name] = fingerprint(pem, config.hash_type)
  }
  return all
}

async function localKeys(match: string, config: MasterConfig): Promise<Record<string, string>> {
  const files = ['master.pem', 'master.pub'].filter((name) => fnmatch(name, match))
  const found = files.map(async (name) => [
    name,
    await readFile(join(config.pki_dir, name), 'utf8').catch(() => undefined),
  ])
  return Object.fromEntries((await Promise.all(found)).filter(([, pem]) => pem !== undefined))
}

/** `<name>.pem` (0400) and `<name>.pub` in a folder; never over existing ones. Gives the paths. */
export async function generateKeys(name: string, folder: string, bits: number): Promise<string[]> {
  const key = await PrivateKey.generate(bits)
  const [secret, open] = [join(folder, `${name}.pem`), join(folder, `${name}.pub`)]
  await mkdir(folder, { recursive: true })
  if (!(await createFileExclusive(secret, `${key.pem}\n`, { mode: 0o400 }))) {
    throw new SaltError(
      'KEY_INVALID',
      `${secret} exists and is not overwritten; choose another name or folder.`,
    )
  }
  await writeFileAtomic(open, `${key.publicKey.pem}\n`, { mode: 0o644 })
  return [secret, open]
}

/** The signature of the master key by the signing key, for `master_use_pubkey_signature`. Gives the path. */
export async function generateSignature(
  config: MasterConfig,
  folder: string,
  autoCreate: boolean,
): Promise<string> {
  const signing = join(config.pki_dir, `${config.master_sign_key_name}.pem`)
  if (!autoCreate && !(await stat(signing).catch(() => undefined))) {
    throw new SaltError('KEY_INVALID', `There is no signing key ${signing}; --auto-create makes one.`)
  }
  const keys = await loadMasterKeys({
    ...config,
    master_sign_pubkey: true,
    master_use_pubkey_signature: false,
  })
  const path = join(folder, config.master_pubkey_signature)
  await writeFileAtomic(path, keys.pubSignature('PKCS1v15-SHA1') as string, { mode: 0o644 })
  return path
}
