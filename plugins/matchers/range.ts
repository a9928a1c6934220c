/**
 * The hosts that a range server names for an expression: `%web:ALL`. It is asked by the client, before a job is published
 * (option `range_server`); the job then goes to a list of ids.
 */
import { CommandExecutionError, matcher, SaltInvocationError } from 'salt-ts'

const TIMEOUT_MS = 10_000
const LONGEST_ANSWER = 10_000_000

export default matcher({
  prepare() {
    throw new SaltInvocationError(
      'Which minions a range means is asked of the range server before a job is published: it is no target for a minion.',
    )
  },
  async expand(expression, { opts }) {
    const { range_server: server } = opts
    if (typeof server !== 'string' || server === '')
      throw new SaltInvocationError(
        "A range target needs a range server: name it in the master's configuration, as in 'range_server: range.example.com:80'.",
      )
    return idsOf(await ask(server, String(expression)))
  },
})

/** The answer of `GET /range/list?<expression>`: one host a line. */
async function ask(server: string, expression: string): Promise<string> {
  const url = `http://${server}/range/list?${encodeURIComponent(expression)}`
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause: unknown) => {
    throw failed(server, cause instanceof Error ? reasonOf(cause) : String(cause))
  })
  const text = await answer.text()
  const complaint = answer.headers.get('RangeException')
  if (complaint)
    throw new SaltInvocationError(`The range server ${server} says of '${expression}': ${complaint}`)
  if (!answer.ok) throw failed(server, `it answers with HTTP status ${answer.status}`)
  if (text.length > LONGEST_ANSWER) throw failed(server, 'its answer is too long')
  return text
}

/** What went wrong below `fetch failed`. */
const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error && cause.message) || message

const failed = (server: string, reason: string): CommandExecutionError =>
  new CommandExecutionError(`The range server ${server} cannot be asked: ${reason}.`)

const idsOf = (answer: string): string[] => [
  ...new Set(
    answer
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]
