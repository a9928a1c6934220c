import { ask, mapIn, SERVER } from './get.ts'

/** Depth of folders that are followed: a server may not lead around in circles. */
const MAX_DEPTH = 10

/**
 * Read all that EC2, or a cloud with the same interface, knows about the machine: a map of folders. Newer instances want a token,
 * which Salt 3006 does not ask for.
 */
export async function ec2(server = SERVER): Promise<Record<string, unknown>> {
  const given = await ask(`${server}/latest/api/token`, {
    method: 'PUT',
    headers: { 'X-aws-ec2-metadata-token-ttl-seconds': '60' },
  })
  const headers: Record<string, string> =
    given?.status === 200 ? { 'X-aws-ec2-metadata-token': given.body } : {}
  const read = async (path: string) => ask(`${server}/${path}`, { headers })
  if ((await read('latest/'))?.status !== 200) return {}
  const found = await folder(read, 'latest/', 0)
  return typeof found === 'string' ? {} : found
}

type Read = (path: string) => ReturnType<typeof ask>

async function folder(read: Read, path: string, depth: number): Promise<Record<string, unknown> | string> {
  const answer = await read(path)
  if (answer?.status !== 200 || depth > MAX_DEPTH) return {}
  if (answer.headers['content-type'] === 'application/octet-stream') return answer.body
  const lines = answer.body.split('\n').filter(Boolean)
  const pairs = await Promise.all(
    lines.map(async (line): Promise<[string, unknown]> => {
      const below = (name: string) => folder(read, `${path}${name}`, depth + 1)
      if (line.endsWith('/')) return [line.slice(0, -1), await below(line)]
      if (depth === 0 || /(dynamic|meta-data)$/.test(line)) return [line, await below(`${line}/`)]
      // Keys of SSH: a number, and the name that it has.
      const [number, name] = line.split('=')
      if (name !== undefined) return [name, await below(`${number}/`)]
      return [line, readValue(await read(`${path}${line}`))]
    }),
  )
  return Object.fromEntries(pairs)
}

/** Return a map as such, other answers as text. */
function readValue(answer: Awaited<ReturnType<Read>>): unknown {
  if (answer?.status !== 200) return null
  try {
    return answer.body.trimStart().startsWith('{') ? mapIn(answer) : answer.body
  } catch {
    return answer.body
  }
}
