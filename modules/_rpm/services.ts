import { readFile, stat } from 'node:fs/promises'
import { CommandExecutionError, type Context } from 'salt-ts'
import { isDnf, managerName, readManager } from './manager.ts'

/** List the services of systemd that still use files which an upgrade has replaced. */
export async function outdatedServices(context: Context): Promise<string[]> {
  if (!isDnf(await managerName()))
    throw new CommandExecutionError('dnf or dnf5 is required to list outdated services.')
  if (!(await stat('/run/systemd/system').catch(() => undefined)))
    throw new CommandExecutionError('systemd is required to list outdated services.')
  const { stdout } = await readManager(['--quiet', 'needs-restarting'], context)
  const services = new Set<string>()
  for (const [, pid] of stdout.matchAll(/^\s*(\d+)\s*:/gm)) {
    const service = await serviceOf(pid!)
    if (service) services.add(service)
  }
  return [...services]
}

async function serviceOf(pid: string): Promise<string | undefined> {
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return /\/([^/\n]+)\.service(?:\/|$)/m.exec(groups)?.[1]
}
