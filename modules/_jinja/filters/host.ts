/** The filters that Salt adds for files, programs and users of the host. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { which } from '../../_cmd/which.ts'
import { digest } from '../../_file/hashes.ts'
import { userId } from '../../_file/owners.ts'
import { readHead } from '../../_file/reading.ts'
import { isBinary } from '../../_file/text.ts'
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, withoutArguments } from '../values/arguments.ts'
import { strictText } from '../values/text.ts'
import { onText } from './on-text.ts'

const SAMPLE_BYTES = 2048

export const hostFilters: Readonly<Record<string, Filter>> = {
  is_empty: onText(async (path) => (await found(path))?.size === 0),
  is_text_file: onText(async (path) => {
    const sample = await startOf(path)
    return sample !== undefined && !isBinary(sample)
  }),
  is_bin_file: onText(async (path) => {
    const sample = (await found(path))?.isFile() ? await startOf(path) : undefined
    return sample !== undefined && isBinary(sample)
  }),
  file_hashsum(path, given) {
    const { form } = bind({ form: 'sha256', chunk_size: 65_536 }, given)
    return digest(strictText(path), strictText(form)).catch((cause: Error) => {
      throw new TemplateError(cause.message, { cause })
    })
  },
  list_files: onText(async (folder) => {
    const names = await readdir(folder, { recursive: true }).catch(() => [])
    return [folder, ...names.sort().map((name) => join(folder, name))]
  }),
  which: onText(which),
  get_uid: withoutArguments(async (user) => (await userId(user === null ? null : strictText(user))) ?? null),
}

const found = (path: string) => stat(path).catch(() => undefined)

/** Read the beginning of a file; undefined if it is none, or cannot be read. */
const startOf = (path: string): Promise<Buffer | undefined> =>
  readHead(path, SAMPLE_BYTES, { devices: true }).catch(() => undefined)
