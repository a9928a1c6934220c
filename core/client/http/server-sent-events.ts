/** A message of an event stream, or a comment: servers of salt-ts say in comments what is missing, and why they end the stream. */
export type ServerSent = { readonly data: string } | { readonly comment: string }

/** An empty line, which ends a block, and the characters of it that may be in an earlier chunk. */
const END = /\r?\n\r?\n/
const BEFORE_END = 3

/** Read server-sent events from the chunks of a body (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export async function* serverSent(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSent> {
  for await (const block of blocksIn(chunks)) {
    const comment = linesWith(':', block)
    if (comment !== '') yield { comment }
    const data = linesWith('data:', block)
    if (data !== '') yield { data }
  }
}

/** Yield the blocks of lines. A large one is put together once, not with each of its chunks. */
async function* blocksIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  let seam = ''
  for await (const chunk of chunks) {
    const part = decoder.decode(chunk, { stream: true })
    parts.push(part)
    seam = seam.slice(-BEFORE_END) + part
    if (!END.test(seam)) continue
    const blocks = parts.join('').split(END)
    parts = [blocks.pop() ?? '']
    yield* blocks
  }
}

/** Return what follows a field name in the lines of a block; empty if no line has it. */
function linesWith(name: string, block: string): string {
  const lines = block.split(/\r?\n/).filter((line) => line.startsWith(name))
  return lines.map((line) => line.slice(name.length).replace(/^ /, '')).join('\n')
}

/**
 * Go through the chunks of a body; not all browsers iterate over streams themselves. The body is taken at once: `fetch` of Node cancels
 * one that nobody has taken when its Response is collected.
 */
export function chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  return chunksFrom(body.getReader())
}

async function* chunksFrom(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
