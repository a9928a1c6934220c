/** The filters that Salt adds for files. */
import { stat } from 'node:fs/promises'
import type { Filter } from '../environment.ts'
import { withoutArguments } from '../values/arguments.ts'
import { strictText } from '../values/text.ts'

export const fileFilters: Readonly<Record<string, Filter>> = {
  is_empty: withoutArguments(isEmptyFile),
}

/** Whether a file is there that has no content. */
async function isEmptyFile(path: unknown): Promise<boolean> {
  const found = await stat(strictText(path)).catch(() => undefined)
  return found?.size === 0
}
