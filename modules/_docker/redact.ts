import { redacted } from '../_git/address.ts'
import { DockerRefusal } from './api.ts'

export { redacted }

/** Throw a refusal again without the logins of URLs, which Docker repeats; other errors as they are. */
export function withoutLogin(error: unknown): never {
  if (error instanceof DockerRefusal) throw new DockerRefusal(error.status, redacted(error.reason))
  throw error
}
