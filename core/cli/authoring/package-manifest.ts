import { readFile } from 'node:fs/promises'
import { messageOf, SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'

/** The content of a package.json, unchecked. */
export type PackageManifest = Readonly<Record<string, unknown>>

export async function readManifest(file: string): Promise<PackageManifest> {
  try {
    const found: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (isRecord(found)) return found
    throw new Error('it is not an object')
  } catch (error) {
    throw new SaltError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(error)}`, { file })
  }
}

/** Return a member that is an object, or an empty one. */
export function memberOf(manifest: PackageManifest, name: string): Readonly<Record<string, unknown>> {
  const member = manifest[name]
  return isRecord(member) ? member : {}
}

/** Return the text of a JSON file. */
export const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`
