/** Reads hosts from a roster (`--hosts`): a YAML map of name → address, or → a map with `host` (Salt's flat roster). */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { parseYaml } from '../../config/yaml.ts'
import { expandTarget } from '../../targets/index.ts'
import { openMatchers } from '../../targets/open-match.ts'
import { UsageError } from '../exit-codes.ts'

/** Target types that need nothing but names, which is all that a roster has. */
const BY_NAME = new Set(['glob', 'pcre', 'list', 'range'])

/** Return the names of the hosts that a target matches, sorted. */
export async function rosterHosts(
  { tgt, tgtType }: { tgt: unknown; tgtType: string },
  config: MasterConfig,
  log: Log,
): Promise<string[]> {
  if (!BY_NAME.has(tgtType))
    throw new UsageError('--hosts matches host names only: use a glob, -E, -L or -R with --hosts.')
  const target = await expandTarget({ tgt, tgt_type: tgtType }, { config, log })
  const decide = (await openMatchers(config, log)).prepare(target)
  const names = await namesIn(config.roster_file ?? join(config.config_dir, 'roster'))
  return names.filter((id) => decide({ id }) === true).sort()
}

async function namesIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`The roster ${path} cannot be read: ${messageOf(error)}`)
  })
  if (/\{[%{#]/.test(text))
    throw new UsageError(`The roster ${path} contains templates; only plain YAML is supported.`)
  const roster = parsed(path, text)
  if (!isRecord(roster)) throw new UsageError(`The roster ${path} must be a map of host names.`)
  return Object.keys(roster)
}

function parsed(path: string, text: string): unknown {
  try {
    return parseYaml(text) ?? {}
  } catch (error) {
    throw new UsageError(`The roster ${path} is not valid YAML: ${messageOf(error)}`)
  }
}
