import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, SaltError } from '../base/errors.ts'
import { type MinionId, parseMinionId } from '../base/minion-id.ts'
import { type DiscoveredId, discoverMinionId } from './minion-id-discovery.ts'
import type { MinionOptions } from './minion-options.ts'
import { readTrusted } from './permissions.ts'

type IdOptions = Pick<
  MinionOptions,
  'id' | 'append_domain' | 'minion_id_caching' | 'minion_id_lowercase' | 'minion_id_remove_domain'
>

/**
 * Return the id of this minion: the configured one, else the one in the file `minion_id` beside the configuration, else a derived
 * one, which is then stored in that file.
 *
 * @throws SaltError ID_INVALID
 */
export function resolveMinionId(
  options: IdOptions,
  configDir: string,
  discover: () => DiscoveredId | undefined = discoverMinionId,
): { id: MinionId; warnings: string[] } {
  const known = options.id || (options.minion_id_caching ? readCached(cacheFile(configDir)) : undefined)
  if (known) return { id: parseMinionId(withDomain(known, options)), warnings: [] }

  const found = discover()
  if (!found)
    throw new SaltError(
      'ID_INVALID',
      'This host has no name and no address to derive a minion id from. Set the option id.',
    )
  const id = found.isAddress ? found.id : shaped(found.id, options)
  const valid = parseMinionId(found.isAddress ? id : withDomain(id, options))
  return { id: valid, warnings: options.minion_id_caching ? writeCached(cacheFile(configDir), id) : [] }
}

const cacheFile = (configDir: string) => join(configDir, 'minion_id')

function readCached(path: string): string | undefined {
  const id = readTrusted(path)?.trim()
  return id && id !== 'localhost' ? id : undefined
}

function writeCached(path: string, id: string): string[] {
  try {
    writeFileSync(path, id, { mode: 0o644 })
    return []
  } catch (error) {
    return [`The minion id ${id} could not be stored in ${path} and may change: ${messageOf(error)}`]
  }
}

function shaped(id: string, { minion_id_lowercase, minion_id_remove_domain: remove }: IdOptions): string {
  const name = minion_id_lowercase ? id.toLowerCase() : id
  if (remove === false) return name
  const domain = name.slice(name.indexOf('.') + 1)
  const removed = remove === true || remove.includes(domain)
  return removed && name.includes('.') ? name.slice(0, name.indexOf('.')) : name
}

function withDomain(id: string, { append_domain: domain }: IdOptions): string {
  return !domain || id.endsWith(domain) ? id : `${id}.${domain}`
}
