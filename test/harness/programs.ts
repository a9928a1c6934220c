import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program of this name is in one of the folders of PATH. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
