/** The file of the schedule: `_schedule.conf` in the folder of further configuration files, with the key `schedule`. */
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { changeYamlFile, readYamlFile } from '../_grains/file.ts'
import { isMapping } from '../_values/traverse.ts'

/** Jobs by name, and settings of the scheduler such as `enabled`. */
export type Schedule = Record<string, unknown>
export type Job = Record<string, unknown>

const WHAT = 'schedule file'

export async function readSchedule(context: Pick<Context, 'opts'>): Promise<Schedule> {
  return scheduleIn(await readYamlFile(schedulePath(context), WHAT))
}

/** Change the schedule under a lock. Other keys of the file stay. `edit` returns the new schedule, or undefined for no change. */
export async function changeSchedule(
  context: Pick<Context, 'opts'>,
  edit: (schedule: Schedule) => Schedule | undefined,
): Promise<void> {
  const path = schedulePath(context)
  await mkdir(dirname(path), { recursive: true })
  await changeYamlFile(path, WHAT, (content) => {
    const schedule = edit(scheduleIn(content))
    return schedule && { schedule }
  })
}

/** Read the schedule of `schedule.conf`, which an administrator wrote; it is empty if there is none. */
export async function readWritten(context: Pick<Context, 'opts'>): Promise<Schedule> {
  return scheduleIn(await readYamlFile(writtenPath(context), WHAT))
}

export const writtenPath = (context: Pick<Context, 'opts'>): string =>
  join(dirname(schedulePath(context)), 'schedule.conf')

function scheduleIn(content: Record<string, unknown>): Schedule {
  const schedule = content.schedule ?? {}
  if (isMapping(schedule)) return schedule as Schedule
  throw new CommandExecutionError('The key schedule of the schedule file is not a map of jobs by name.')
}

function schedulePath({ opts }: Pick<Context, 'opts'>): string {
  const { config_dir, conf_file, default_include } = opts
  const folder =
    typeof config_dir === 'string'
      ? config_dir
      : typeof conf_file === 'string'
        ? dirname(conf_file)
        : undefined
  if (folder === undefined)
    throw new CommandExecutionError('The minion has no configuration folder, so a schedule cannot be stored')
  const include = typeof default_include === 'string' ? default_include : 'minion.d/*.conf'
  return resolve(folder, dirname(include), '_schedule.conf')
}
