/** What is sent to a web server and what comes back. */
import { CommandExecutionError, jsonText } from 'salt-ts'

/** A map or list is sent as JSON. */
export function bodyOf(data: unknown): { body?: string } {
  if (data === undefined || data === null) return {}
  return { body: typeof data === 'string' ? data : jsonText(data) }
}

/** The text of an answer. A longer one is not read to its end. */
export async function readLimited(response: Response, most: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > most) {
      throw new CommandExecutionError(
        `The answer of ${response.url} has more than ${most} bytes; max_body allows more.`,
      )
    }
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

export function decoded(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
