/** Lists what is installed: packages, and patterns, patches and products, which only zypper knows. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Context } from 'salt-ts'
import { fullVersion, type InstalledByName, readInstalled, withAttributes } from '../_rpm/installed.ts'
import { rpm } from '../_rpm/query.ts'
import { childOf, type Element } from '../_values/xml.ts'
import { type Details, infosOf } from './available.ts'
import { zypperElements } from './run.ts'

type Root = string | undefined

export interface Summary {
  readonly installed: boolean
  readonly summary: string
}

/** List the patterns or patches that zypper knows, with their summaries. */
export async function summaries(
  kind: 'pattern' | 'patch',
  root: Root,
  context: Context,
): Promise<Record<string, Summary>> {
  const solvables = await zypperElements('solvable', ['se', '-t', kind], context, { root, reading: true })
  return Object.fromEntries(
    solvables.map(({ attributes: { name = '', status, summary = '' } }) => [
      name,
      { installed: status === 'installed', summary },
    ]),
  )
}

export const installedOnly = (all: Readonly<Record<string, Summary>>): Record<string, Summary> =>
  Object.fromEntries(Object.entries(all).filter(([, { installed }]) => installed))

/** List the installed patterns, also those that a search does not show: packages provide them as capabilities. */
export async function installedPatterns(root: Root, context: Context): Promise<Record<string, Summary>> {
  const shown = installedOnly(await summaries('pattern', root, context))
  const words = ['-q', '--provides', '--whatprovides', 'pattern()']
  const { stdout } = await rpm(words, root, context, { ignoreRetcode: true })
  // Other names of a pattern begin with a dot.
  const names = [...stdout.matchAll(/^pattern\(\) = ([^.\s].*)$/gm)].map(([, name = '']) => name.trim())
  const hidden = names
    .filter((name) => !Object.hasOwn(shown, name))
    .map((name): [string, Summary] => [name, { installed: true, summary: 'Non-visible pattern' }])
  return { ...shown, ...Object.fromEntries(hidden) }
}

/** List the products of SUSE: those that are installed, or all. */
export async function products(
  all: boolean,
  root: Root,
  context: Context,
): Promise<Record<string, unknown>[]> {
  const args = all ? ['products'] : ['--disable-repositories', 'products', '-i']
  const [list] = await zypperElements('product-list', args, context, { root, reading: true })
  const found = list?.children.filter(({ name }) => name === 'product') ?? []
  return Promise.all(found.map((product) => productOf(product, root)))
}

async function productOf(product: Element, root: Root): Promise<Record<string, unknown>> {
  const known: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(product.attributes)) {
    if (name === 'isbase' || name === 'installed') known[name] = value === 'true' || value === '1'
    else if (value !== '') known[name] = value
  }
  const end = childOf(product, 'endoflife')?.attributes
  const description = childOf(product, 'description')?.text ?? ''
  const release = await oemRelease(known.productline, root)
  return {
    ...known,
    ...(end && { eol: end.text ?? '', eol_t: Number(end.time_t) || 0 }),
    description: description
      .split('\n')
      .map((line) => line.trim())
      .join(' '),
    ...(release && { release }),
  }
}

/** Manufacturers of computers have releases of their own. */
async function oemRelease(productline: unknown, root: Root): Promise<string> {
  if (typeof productline !== 'string' || productline === '') return ''
  const file = join(root ?? '/', 'var/lib/suseRegister/OEM', basename(productline))
  const text = await readFile(file, 'utf8').catch(() => '')
  return (text.split('\n')[0] ?? '').trim()
}

/** Types of things that are no packages, as in the name `pattern:base`. */
export const typesIn = (names: readonly string[]): string[] =>
  [
    ...new Set(names.filter((name) => name.includes(':')).map((name) => name.slice(0, name.indexOf(':')))),
  ].sort()

/** Return the installed packages, and those things of these types, whose names begin with the type. */
export async function installedWith(
  types: readonly string[],
  root: Root,
  context: Context,
  useContext = true,
): Promise<InstalledByName> {
  const packages = Object.entries(await readInstalled(context, { root, useContext }))
  const found: Record<string, InstalledByName[string]> = Object.fromEntries(
    packages.filter(([name]) => !name.startsWith('gpg-pubkey')),
  )
  for (const type of types)
    for (const [name, one] of await installedOf(type, root, context)) found[`${type}:${name}`] = [one]
  return found
}

type Facts = Readonly<Record<string, unknown>>

async function installedOf(type: string, root: Root, context: Context) {
  if (type === 'product')
    return (await products(false, root, context)).map(
      (one) => [String(one.name), installedFrom(one)] as const,
    )
  if (type !== 'pattern' && type !== 'patch') return []
  const names = Object.keys(
    type === 'pattern'
      ? await installedPatterns(root, context)
      : installedOnly(await summaries(type, root, context)),
  )
  const infos: Record<string, Details> = await infosOf(
    names.map((name) => `${type}:${name}`),
    root,
    context,
  )
  return names.map((name) => [name, installedFrom({ ...infos[name], epoch: null, release: null })] as const)
}

const installedFrom = ({ epoch, version, release, arch }: Facts): InstalledByName[string][number] => ({
  epoch: textOf(epoch),
  version: textOf(version) ?? '',
  release: textOf(release),
  arch: textOf(arch) ?? '',
  install_date: null,
  install_date_time_t: null,
})

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Versions by package, as texts: several as one with commas. With `attr` each is a map of these attributes. */
export async function listed(
  { types = [], attr = [], root }: { types?: readonly string[]; attr?: readonly string[]; root?: Root },
  context: Context,
): Promise<Record<string, unknown>> {
  const found = await installedWith(types, root, context)
  return attr.length > 0 ? withAttributes(found, attr) : joinedVersions(found)
}

export const versionLists = (found: InstalledByName): Record<string, string[]> =>
  Object.fromEntries(Object.entries(found).map(([name, versions]) => [name, versions.map(fullVersion)]))

export const joinedVersions = (found: InstalledByName): Record<string, string> =>
  Object.fromEntries(
    Object.entries(versionLists(found)).map(([name, versions]) => [name, versions.join(',')]),
  )
