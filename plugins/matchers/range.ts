/**
 * Selects the hosts that a range server (option `range_server`) lists for an expression: `%web:ALL`. The client queries it
 * before it publishes the job, which then has a list of ids as its target.
 */
import { CommandExecutionError, matcher, SaltInvocationError } from 'salt-ts'
import { valueText } from '#internal'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 10_000_000

export default matcher({
  prepare() {
    throw new SaltInvocationError(
      'A minion cannot evaluate a range target: the client expands it with the range server before it publishes the job.',
    )
  },
  async expand(expression, { opts }) {
    const { range_server: server } = opts
    if (typeof server !== 'string' || server === '')
      throw new SaltInvocationError(
        "A range target needs a range server. Set it in the master's configuration: range_server: range.example.com:80",
      )
    return idsOf(await ask(server, valueText(expression)))
  },
})

/** Return the response to `GET /range/list?<expression>`: one host per line. */
async function ask(server: string, expression: string): Promise<string> {
  const url = `http://${server}/range/list?${encodeURIComponent(expression)}`
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause: unknown) => {
    throw failed(server, cause instanceof Error ? reasonOf(cause) : String(cause))
  })
  const text = await answer.text()
  const complaint = answer.headers.get('RangeException')
  if (complaint)
    throw new SaltInvocationError(`The range server ${server} refuses '${expression}': ${complaint}`)
  if (!answer.ok) throw failed(server, `it answered with HTTP status ${answer.status}`)
  if (text.length > MAX_ANSWER_BYTES) throw failed(server, 'its answer is too long')
  return text
}

/** Return the error behind the message `fetch failed`. */
const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error && cause.message) || message

const failed = (server: string, reason: string): CommandExecutionError =>
  new CommandExecutionError(`The range server ${server} cannot be used: ${reason}.`)

const idsOf = (answer: string): string[] => [
  ...new Set(
    answer
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]
