import type { LoaderView } from '../author/context.ts'
import { UsageError } from './exit-codes.ts'

/** Documentation of the functions a word means: nothing: all; `jobs`: all of that module; `jobs.active`: that one. */
export async function matchingDocs(view: LoaderView, word: string | undefined): Promise<Map<string, string>> {
  await view.broken() // the log says what cannot be loaded
  const names = (await view.functions()).filter(
    (name) => word === undefined || name === word || name.startsWith(`${word}.`),
  )
  if (names.length === 0 && word !== undefined) throw new UsageError(`There is nothing called '${word}'.`)
  const docs = new Map<string, string>()
  for (const name of names) docs.set(name, (await view.doc(name)) ?? 'No documentation.')
  return docs
}
