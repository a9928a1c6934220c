import { messageOf, SaltError } from '../base/errors.ts'
import type { Environment } from './environment.ts'
import { isFull } from './room.ts'

/** lmdb rejects with "Commit failed" and hands the reason over in a second promise. */
export async function reasonOf(error: unknown): Promise<string> {
  const { commitError } = error as { commitError?: Promise<unknown> }
  if (!commitError) return messageOf(error)
  return commitError.then(() => messageOf(error), messageOf)
}

/** After some failures LMDB refuses everything until the file is opened anew. An empty transaction writes nothing. */
export function isUsable(environment: Environment): boolean {
  try {
    environment.transactionSync(() => undefined)
    return true
  } catch {
    return false
  }
}

export function commitFailed(path: string, reason: string): SaltError {
  const sentence = isFull(path)
    ? `The disk is full: nothing was stored in ${path}. Make room; no restart is needed.`
    : `Nothing was stored in ${path}: ${reason}. Make room or repair the disk; no restart is needed.`
  return new SaltError('STORE_FAILED', sentence, { path, reason })
}
