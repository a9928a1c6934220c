/** Values in the environment of the job, which programs that it starts get, too. */
import { SaltInvocationError } from 'salt-ts'
import { changeVariable, jobEnvironment } from '../_environ/job-environment.ts'
import type { Driver } from './drivers.ts'

export const env: Driver = {
  get: (key, _profile, context) => jobEnvironment(context)[key] ?? null,
  /** A variable that exists keeps its value. Returns the value that it has then. */
  set: (key, value, _profile, context) => {
    if (typeof value !== 'string')
      throw new SaltInvocationError(`The value of the environment variable '${key}' must be text`)
    if (/[=\0]/.test(key) || value.includes('\0'))
      throw new SaltInvocationError(
        'The name of an environment variable has neither "=" nor a null byte, and its value no null byte',
      )
    const existing = jobEnvironment(context)[key]
    if (existing === undefined) changeVariable(key, value, context)
    return existing ?? value
  },
}
