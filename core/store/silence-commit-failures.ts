import type { Environment } from './environment.ts'

/** Highest status with which lmdb reports success: a round of writes is over, or the next change must run. */
const LAST_GOOD = 2

type Written = (status: number) => unknown
interface Writer {
  startWriting(start: unknown, written: Written): void
}

/**
 * Keep lmdb from printing failed commits. It rejects their promises, whose errors are reported, but also prints the reason
 * with a stack trace at each attempt: on a full disk that would fill the standard error of a daemon.
 */
export function silenceCommitFailures(environment: Environment): Environment {
  const { env } = environment as unknown as { env: Writer }
  const startWriting = env.startWriting.bind(env)
  const quiet: Writer['startWriting'] = (start, written) =>
    startWriting(start, (status) =>
      status <= LAST_GOOD ? written(status) : withoutConsole(() => written(status)),
    )
  Object.defineProperty(env, 'startWriting', { value: quiet })
  return environment
}

function withoutConsole<T>(work: () => T): T {
  const { error } = console
  console.error = () => undefined
  try {
    return work()
  } finally {
    console.error = error
  }
}
