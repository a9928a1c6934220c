import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { messageOf } from '../base/errors.ts'
import { sentence } from '../base/sentence.ts'
import { type LoaderSettings, openLoader } from '../loader/index.ts'

/** Log an error when a minion starts if the `sudo_user` of its configuration cannot run jobs. */
export async function checkSudoUser(settings: LoaderSettings): Promise<void> {
  const { sudo_user: user } = settings.config
  if (typeof user !== 'string' || user === '') return
  const logReason = (why: string) =>
    settings.log.error(
      `No job can run as ${user} (sudo_user): ${sentence(why)} Fix that, or remove sudo_user from the configuration.`,
    )
  if (!(await isUser(user))) logReason('there is no such user on this host')
  await openLoader('executors', settings)
    .plugin('sudo')
    .catch((error: unknown) => logReason(messageOf(error)))
}

/** Look the user up with `id`, which also finds users of LDAP and the like. Resolves with true if `id` is not installed. */
async function isUser(name: string): Promise<boolean> {
  try {
    await promisify(execFile)('id', ['-u', '--', name])
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
