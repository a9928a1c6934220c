import type { Context } from 'salt-ts'

/** What functions of a job have changed in its environment: values, or undefined for variables that they have removed. */
type Changes = Map<string, string | undefined>

const KEY = 'environ.changes'

/**
 * Return the environment of a job: that of the minion, with what functions of the job have changed. The process does not get the
 * changes, since it runs other jobs later.
 */
export function jobEnvironment({ context }: Pick<Context, 'context'>): NodeJS.ProcessEnv {
  const environment = { ...process.env }
  for (const [name, value] of (context.get(KEY) as Changes | undefined) ?? []) {
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
  return environment
}

/** Change a variable in the environment of a job, or remove it if the value is undefined. */
export function changeVariable(
  name: string,
  value: string | undefined,
  { context }: Pick<Context, 'context'>,
): void {
  const changes = (context.get(KEY) as Changes | undefined) ?? new Map()
  context.set(KEY, changes.set(name, value))
}
