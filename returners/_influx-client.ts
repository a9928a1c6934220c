/** Reads and writes InfluxDB 1 over HTTP. Values are passed as parameters, never inside the text of a query. */
import { httpClient, httpUrl, isSuccess, refusal } from './_http.ts'
import { lineOf, type Point } from './_influx-line.ts'

export interface InfluxOptions {
  readonly host: string
  readonly port: number
  readonly db: string
  readonly user: string
  readonly password: string
}

type Row = Readonly<Record<string, unknown>>

export interface InfluxClient {
  write(points: readonly Point[]): Promise<void>
  /** Resolves with the rows and their tags, in order. `method` is POST for statements that change something. */
  query(
    text: string,
    params?: Readonly<Record<string, string | number>>,
    method?: 'GET' | 'POST',
  ): Promise<readonly Row[]>
  close(): Promise<void>
}

interface Result {
  readonly error?: string
  readonly series?: readonly {
    readonly tags?: Row
    readonly columns: readonly string[]
    readonly values: readonly (readonly unknown[])[]
  }[]
}

export async function influxClient(
  options: InfluxOptions & Parameters<typeof httpClient>[0],
): Promise<InfluxClient> {
  const { host, port, db, user, password } = options
  const base = httpUrl('influxdb.host', `${options.ssl ? 'https' : 'http'}://${host}:${port}`)
  const client = await httpClient(options)
  const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
  const address = (path: string, query: Readonly<Record<string, string>>) =>
    new URL(`${path}?${new URLSearchParams({ db, ...query })}`, base)

  return {
    async write(points) {
      const url = address('/write', { precision: 'ns' })
      const answer = await client.send({ method: 'POST', url, headers, body: points.map(lineOf).join('\n') })
      if (isSuccess(answer)) return
      // A database that has reached a limit may accept the points later, although the status blames them.
      if (answer.text.includes('limit exceeded'))
        throw new Error(`${url.host} answered: ${answer.text.trim()}`)
      throw refusal(url, answer)
    },
    async query(text, params = {}, method = 'GET') {
      const url = address('/query', { q: text, params: JSON.stringify(params), epoch: 'ns' })
      const answer = await client.send({ method, url, headers })
      if (!isSuccess(answer)) throw refusal(url, answer)
      const { results } = JSON.parse(answer.text) as { readonly results: readonly Result[] }
      const failed = results.find(({ error }) => error !== undefined)
      if (failed) throw new Error(`${url.host} answered: ${failed.error}`)
      return results.flatMap(({ series = [] }) => series.flatMap(rowsOf))
    },
    close: client.close,
  }
}

const rowsOf = ({ tags, columns, values }: NonNullable<Result['series']>[number]): Row[] =>
  values.map((row) => ({ ...tags, ...Object.fromEntries(columns.map((name, index) => [name, row[index]])) }))
