import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { Context } from '../../../core/author/index.ts'
import { type Loader, type LoaderSettings, openLoader } from '../../../core/loader/index.ts'
import type { KindName } from '../../../core/loader/kinds.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'

export interface Folder {
  /** Of this test. */
  readonly path: string
  /** Write a file whose name says where; gives its path. */
  put(name: string, text: string): Promise<string>
  /** A loader that searches the folder. */
  open(config?: object, settings?: Partial<LoaderSettings>, kind?: KindName): Loader
}

/** A folder of extensions for each test of a file. */
export function extensionFolder(): Folder {
  let directory = ''
  beforeEach(async () => {
    directory = await temporaryFolder('salt-ts-loader-')
  })
  afterEach(() => removeFolder(directory))
  return {
    get path() {
      return directory
    },
    put: async (name, text) => {
      const file = path.join(directory, name)
      await mkdir(path.dirname(file), { recursive: true })
      await writeFile(file, text)
      return file
    },
    open: (config = {}, settings = {}, kind = 'modules') =>
      openLoader(kind, { config: { module_dirs: [directory], ...config }, log: quietLog, ...settings }),
  }
}

/** Call as a job would be; a missing function gives the sentence why. */
export async function call(
  loader: Loader,
  name: string,
  args: unknown[] = [],
  kwargs = {},
): Promise<unknown> {
  const found = await loader.get(name)
  if (!found) return loader.why(name)
  return found.run(found.bind(args, kwargs), {} as Context)
}
