import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { plainNames } from '../_pkg/names.ts'
import { listVersions } from './installed.ts'
import { isDnf, managerName, runManager } from './manager.ts'

/** Enable a project of COPR, given as `owner/project`, with the plugin of dnf or yum. */
export async function enableCopr(project: string, context: Context): Promise<void> {
  plainNames([project])
  const manager = await managerName()
  const plugin = isDnf(manager) ? 'dnf-plugins-core' : 'yum-plugin-copr'
  if (!Object.hasOwn(await listVersions(context), plugin))
    throw new SaltInvocationError(`${plugin} must be installed to use COPR`)
  const { retcode, stderr } = await runManager(['copr', 'enable', project, '-y'], context)
  if (retcode === 0) return
  throw new CommandExecutionError(
    `Unable to add COPR '${project}'. '${manager}' exited with status ${retcode}: '${stderr}' `,
  )
}
