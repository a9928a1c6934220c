/** Bodies of HTTP requests and responses. */
import { CommandExecutionError, jsonText } from 'salt-ts'

/** Return the request body. Maps and lists are sent as JSON. */
export function bodyOf(data: unknown): { body?: string } {
  if (data === undefined || data === null) return {}
  return { body: typeof data === 'string' ? data : jsonText(data) }
}

/** Read the text of a response. Rejects, without reading on, if it is longer than `most` bytes. */
export async function readLimited(response: Response, most: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > most) {
      throw new CommandExecutionError(
        `The response of ${response.url} has more than ${most} bytes. Raise max_body to allow it.`,
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
