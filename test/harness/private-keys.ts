import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const keys: readonly string[] = JSON.parse(
  readFileSync(new URL('../fixtures/private-keys.json', import.meta.url), 'utf8'),
)
let given = 0

/** Give a daemon that has no key yet the next one of the fixture: making one takes as long as half a start. */
export async function giveKey(pki: string, name: string): Promise<void> {
  const path = join(pki, `${name}.pem`)
  if (existsSync(path)) return
  await mkdir(pki, { recursive: true, mode: 0o700 })
  await writeFile(path, keys[given++ % keys.length]!, { mode: 0o400 })
}
