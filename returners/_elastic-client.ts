/** The calls of Elasticsearch's HTTP API that the returner needs; they are the same in 7, 8, 9 and OpenSearch. */
import { type HttpRequest, httpClient, httpUrl, isSuccess, refusal } from './_http.ts'

export interface ElasticOptions {
  readonly hosts: readonly string[]
  readonly user: string | undefined
  readonly password: string | undefined
  readonly api_key: string | undefined
}

export type Body = Readonly<Record<string, unknown>>

export interface ElasticClient {
  /** Resolves with the response as JSON; undefined for 404. If a host cannot be reached, the next one is tried. */
  ask(method: HttpRequest['method'], path: string, body?: Body | readonly Body[]): Promise<Body | undefined>
  close(): Promise<void>
}

export async function elasticClient(
  options: ElasticOptions & Parameters<typeof httpClient>[0],
): Promise<ElasticClient> {
  const scheme = options.ssl ? 'https' : 'http'
  const hosts = options.hosts.map((host) =>
    httpUrl('elasticsearch.hosts', host.includes('://') ? host : `${scheme}://${host}`),
  )
  const client = await httpClient(options)

  /** Send a request to the first host that can be reached. Hosts that cannot are tried last from then on. */
  async function firstToAnswer(path: string, asked: Omit<HttpRequest, 'url'>) {
    let failure: unknown
    for (const host of [...hosts]) {
      const url = new URL(path, host)
      try {
        return { url, answer: await client.send({ ...asked, url }) }
      } catch (error) {
        failure = error
        hosts.push(...hosts.splice(hosts.indexOf(host), 1))
      }
    }
    throw failure
  }

  return {
    async ask(method, path, body) {
      const lines = body && [body].flat().map((line) => `${JSON.stringify(line)}\n`)
      const headers = {
        'content-type': Array.isArray(body) ? 'application/x-ndjson' : 'application/json',
        ...authorization(options),
      }
      const { url, answer } = await firstToAnswer(path, {
        method,
        headers,
        ...(lines && { body: lines.join('') }),
      })
      if (answer.status === 404) return undefined
      if (!isSuccess(answer)) throw refusal(url, answer)
      return answer.text === '' ? {} : JSON.parse(answer.text)
    },
    close: client.close,
  }
}

function authorization({ api_key, user, password = '' }: ElasticOptions): { authorization?: string } {
  if (api_key !== undefined) return { authorization: `ApiKey ${api_key}` }
  if (user === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}
