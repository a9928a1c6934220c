/** For processes in which an author changes files: a file that fails to load is offered as it was when it last loaded. */
import type { Namespace } from './import-file.ts'
import type { LoadedFile } from './load-file.ts'

interface LoadFailure {
  readonly path: string
  /** The thrown value, or an error with the reason why the file is refused. */
  readonly error: unknown
  /** Whether an earlier version is offered instead. */
  readonly hasEarlier: boolean
}

export interface LoadReport {
  /** Called before a file is loaded; returns the function to call afterwards. */
  onLoading(path: string): () => void
  onFailure(failure: LoadFailure): void
}

let report: LoadReport | undefined
const versions = new Map<string, Namespace>()

/** Keep the last version of each user's file that loaded, in this process, and report each load. */
export function keepLastGood(onLoad: LoadReport): void {
  report = onLoad
}

/**
 * Load a file; if that fails, load the exports of its last version that loaded. `load` is called without exports to import the
 * present version.
 */
export async function orLastGood(
  path: string,
  load: (exports?: Namespace) => Promise<LoadedFile>,
): Promise<LoadedFile> {
  if (!report) return load()
  const onLoaded = report.onLoading(path)
  const attempt = await load().catch((error: unknown) => ({ error }))
  onLoaded()
  const error = failureOf(attempt)
  if (!('error' in attempt) && error === undefined) {
    versions.set(path, attempt.namespace)
    return attempt
  }
  const earlier = versions.get(path)
  report.onFailure({ path, error, hasEarlier: earlier !== undefined })
  if (earlier) return load(earlier)
  if ('error' in attempt) throw attempt.error
  return attempt
}

/** Return why loading failed; undefined if it did not. */
function failureOf(attempt: LoadedFile | { readonly error: unknown }): unknown {
  if ('error' in attempt) return attempt.error
  return attempt.refusal?.by === 'failure' ? new Error(attempt.refusal.reason) : undefined
}
