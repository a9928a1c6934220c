import { messageOf, SaltError } from '../base/errors.ts'
import type { Environment } from './environment.ts'
import { isFull } from './free-space.ts'

/** Return the reason of a failed commit. lmdb rejects with "Commit failed", and has the reason in a second promise. */
export async function commitFailureReason(error: unknown): Promise<string> {
  const { commitError } = error as { commitError?: Promise<unknown> }
  if (!commitError) return messageOf(error)
  return commitError.then(() => messageOf(error), messageOf)
}

/**
 * Whether an environment still works: after some failures LMDB refuses everything until the file is reopened. The empty
 * transaction writes nothing.
 */
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
    ? `The disk is full: nothing was stored in ${path}. Free some space; no restart is needed.`
    : `Nothing was stored in ${path}: ${reason}. Free some space or repair the disk; no restart is needed.`
  return new SaltError('STORE_FAILED', sentence, { path, reason })
}
