import { expect, test } from 'vitest'
import { type ServerSent, serverSent } from '../../../../core/client/http/server-sent-events.ts'

const encoder = new TextEncoder()

/** Read a text that comes in chunks of so many bytes. */
async function read(text: string, size: number): Promise<ServerSent[]> {
  const bytes = encoder.encode(text)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const found: ServerSent[] = []
  for await (const message of serverSent(chunks())) found.push(message)
  return found
}

test('events and comments are found wherever chunks end, also in a character or an empty line', async () => {
  const sent =
    'retry: 400\n\ntag: t\ndata: {"ü": "😀"}\n\n: why ü\r\n\r\n:\n\ndata:1\r\ndata: 2\r\n\r\n\n\ndata: torn\n'
  for (let size = 1; size <= encoder.encode(sent).length; size++)
    expect(await read(sent, size)).toEqual([{ data: '{"ü": "😀"}' }, { comment: 'why ü' }, { data: '1\n2' }])
})

test('a large event in small chunks does not take time by the square of its size', async () => {
  const text = 'x'.repeat(16_000_000)
  expect(await read(`data: ${text}\n\n`, 1400)).toEqual([{ data: text }])
})
