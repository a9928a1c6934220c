import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './ports.ts'
import { startServer } from './server.ts'

/** InfluxDB 1 with an administrator `salt`, password `right`, whom it asks for. `ask` gives the series of an answer. */
export async function startInfluxdb() {
  const rpcPort = await freePort()
  const server = await startServer('influxd', ({ port, folder }) => {
    const file = join(folder, 'conf')
    writeFileSync(
      file,
      `reporting-disabled = true
bind-address = "127.0.0.1:${rpcPort}"
[meta]
dir = "${join(folder, 'meta')}"
[data]
dir = "${join(folder, 'data')}"
wal-dir = "${join(folder, 'wal')}"
max-values-per-tag = 0
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:${port}"
auth-enabled = true
`,
    )
    return ['-config', file]
  })
  const headers = { authorization: `Basic ${Buffer.from('salt:right').toString('base64')}` }
  const url = `http://127.0.0.1:${server.port}`
  async function ask(q: string): Promise<readonly { readonly values: readonly unknown[][] }[]> {
    const answer = await fetch(`${url}/query?${new URLSearchParams({ db: 'salt', q })}`, {
      method: 'POST',
      headers,
    })
    const { results } = (await answer.json()) as { results: { series?: { values: unknown[][] }[] }[] }
    return results[0]?.series ?? []
  }
  async function write(lines: string): Promise<void> {
    const answer = await fetch(`${url}/write?db=salt`, { method: 'POST', headers, body: lines })
    if (!answer.ok) throw new Error(await answer.text())
  }
  await ask("CREATE USER salt WITH PASSWORD 'right' WITH ALL PRIVILEGES")
  return { ...server, ask, write }
}
