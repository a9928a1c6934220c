import type { Environment } from './environment.ts'

/** What lmdb tells of a round of writes when nothing went wrong: it is over, or the next change is to run. */
const LAST_GOOD = 2

type Written = (status: number) => unknown
interface Writer {
  startWriting(start: unknown, written: Written): void
}

/**
 * lmdb rejects the promises of a commit that failed, and prints the reason with a stack as well, for each attempt: a full disk
 * would fill the standard error of a daemon. Whoever has the promise says it in a sentence.
 */
export function keepFailuresQuiet(environment: Environment): Environment {
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
