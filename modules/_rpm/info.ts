import { CommandExecutionError, type Context } from 'salt-ts'
import { listed, plainNames } from '../_pkg/names.ts'
import { isoTime } from './installed.ts'
import { rpm } from './query.ts'
import { compareRpmVersions } from './version.ts'

/** Formats of rpm for what is known about a package, by Salt's name. */
const FORMATS: Readonly<Record<string, string>> = {
  name: '%{NAME}',
  relocations: '%|PREFIXES?{[%{PREFIXES} ]}:{(not relocatable)}|',
  version: '%{VERSION}',
  vendor: '%{VENDOR}',
  release: '%{RELEASE}',
  epoch: '%|EPOCH?{%{EPOCH}}|',
  build_date_time_t: '%{BUILDTIME}',
  build_date: '%{BUILDTIME}',
  install_date_time_t: '%|INSTALLTIME?{%{INSTALLTIME}}|',
  install_date: '%|INSTALLTIME?{%{INSTALLTIME}}|',
  build_host: '%{BUILDHOST}',
  group: '%{GROUP}',
  source_rpm: '%{SOURCERPM}',
  size: '%{LONGSIZE}',
  arch: '%{ARCH}',
  license: '%|LICENSE?{%{LICENSE}}|',
  signature:
    '%|DSAHEADER?{%{DSAHEADER:pgpsig}}:{%|RSAHEADER?{%{RSAHEADER:pgpsig}}:{%|SIGGPG?{%{SIGGPG:pgpsig}}:{%|SIGPGP?{%{SIGPGP:pgpsig}}:{(none)}|}|}|}|',
  packager: '%|PACKAGER?{%{PACKAGER}}|',
  url: '%|URL?{%{URL}}|',
  summary: '%{SUMMARY}',
  description: '%{DESCRIPTION}',
  edition: '%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}',
}
// Bytes that are in no text of a package.
const FIELD_END = '\x1f'
const PACKAGE_END = '\x1e'

export type Info = Record<string, unknown>
export interface InfoOptions {
  readonly attr?: unknown
  readonly all_versions?: boolean
  readonly root?: string | undefined
}

/** Return what the database of rpm has on packages, or on all: of the latest version, or of all as a list. */
export async function packageInfos(
  names: readonly string[],
  { attr, all_versions = false, root }: InfoOptions,
  context: Context,
): Promise<Record<string, Info | Info[]>> {
  plainNames(names)
  const wanted = listed(attr)
  const known = wanted.filter((one) => one in FORMATS)
  if (wanted.length > 0 && known.every((one) => one === 'description'))
    throw new CommandExecutionError('No valid attributes found.')
  const fields = wanted.length > 0 ? [...new Set([...known, 'name', 'edition'])] : Object.keys(FORMATS)
  const format = `${fields.map((one) => FORMATS[one]).join(FIELD_END)}${PACKAGE_END}`
  const words = [names.length > 0 ? '-q' : '-qa', '--queryformat', format, ...names]
  const { stdout } = await rpm(words, root, context, { ignoreRetcode: true })
  return byName(parsed(stdout, fields), all_versions)
}

function parsed(text: string, fields: readonly string[]): Info[] {
  return text.split(PACKAGE_END).flatMap((record) => {
    // What rpm says about packages that are missing is a line before the next record.
    const values = record.replace(/^\s*(?:package .* is not installed\n)*/, '').split(FIELD_END)
    if (values.length !== fields.length) return []
    const entries = fields.map((key, index) => [key, shownValue(key, values[index]!)] as const)
    return [Object.fromEntries(entries.filter(([, value]) => value !== ''))]
  })
}

function shownValue(key: string, value: string): unknown {
  if (key === 'description') return value.trimEnd()
  if (!/_date(?:_time_t)?$/.test(key) || value === '') return value.trim()
  return key.endsWith('_time_t') ? Number(value) : isoTime(Number(value))
}

function byName(infos: readonly Info[], allVersions: boolean): Record<string, Info | Info[]> {
  const found: Record<string, Info[]> = {}
  const sorted = infos.toSorted((a, b) => compareRpmVersions(String(b.edition), String(a.edition)))
  for (const { name, source_rpm, ...info } of sorted) {
    if (String(name).startsWith('gpg-pubkey')) continue
    const one = { ...info, ...(source_rpm !== undefined && { source: source_rpm }) }
    found[String(name)] = [...(found[String(name)] ?? []), one]
  }
  if (allVersions) return found
  return Object.fromEntries(
    Object.entries(found).map(([name, [latest]]) => {
      const { edition: _, ...info } = latest!
      return [name, info]
    }),
  )
}
