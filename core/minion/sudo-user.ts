import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { messageOf } from '../base/errors.ts'
import { sentence } from '../base/sentence.ts'
import { type LoaderSettings, openLoader } from '../loader/index.ts'

/** Tell when a minion starts that the `sudo_user` of its configuration cannot run jobs: each one would fail. */
export async function checkSudoUser(settings: LoaderSettings): Promise<void> {
  const { sudo_user: user } = settings.config
  if (typeof user !== 'string' || user === '') return
  const tell = (why: string) =>
    settings.log.error(
      `No job can run as ${user} (sudo_user): ${sentence(why)} Repair that, or take sudo_user out.`,
    )
  if (!(await isUser(user))) tell('there is no such user on this host')
  await openLoader('executors', settings)
    .plugin('sudo')
    .catch((error: unknown) => tell(messageOf(error)))
}

/** Asks the system, which may know users from elsewhere. True if it cannot be asked. */
async function isUser(name: string): Promise<boolean> {
  try {
    await promisify(execFile)('id', ['-u', '--', name])
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
