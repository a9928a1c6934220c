/** The examples of docs/returners.md for Redis and PostgreSQL, with both servers. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { Cluster, jobsWithin } from '../harness/daemons.ts'
import { needs, postgresHere, program } from '../harness/needs.ts'
import { pageBlock } from '../harness/page-blocks.ts'
import { postgresDatabase } from '../harness/postgres-database.ts'
import { startServer, type TestServer } from '../harness/server.ts'
import { until } from '../harness/until.ts'

const PAGE = 'docs/returners.md'
const SECTION = 'Two stores in ten lines'
const written = parse(pageBlock(PAGE, SECTION, 'yaml')) as Record<string, unknown>

describe(
  'the page about returners with Redis and PostgreSQL',
  needs(program('redis-server'), await postgresHere()),
  () => {
    let redis: TestServer
    let postgres: Awaited<ReturnType<typeof postgresDatabase>>
    let cluster: Cluster
    beforeAll(async () => {
      const password = String(written['redis.password'])
      const args = ['--bind', '127.0.0.1', '--save', '', '--requirepass', password]
      redis = await startServer('redis-server', ({ port, folder }) => [
        '--port',
        `${port}`,
        '--dir',
        folder,
        ...args,
      ])
      postgres = await postgresDatabase('returner.postgres')
      const here = { 'redis.host': '127.0.0.1', 'redis.port': redis.port, ...postgres.config }
      cluster = await Cluster.open({ minions: ['web1'], minion: jobsWithin, master: { ...written, ...here } })
    })
    afterAll(async () => {
      await cluster?.close()
      await postgres?.drop()
      await redis?.drop()
    })

    /** The commands as they are written there. */
    const commands = pageBlock(PAGE, SECTION, 'sh')
      .split('\n')
      .map((line) => line.replace(/\s*#.*/, '').split(' '))
      .filter(([program]) => program === 'salt-run')

    test('ten lines are enough: jobs and returns are in Redis, events in PostgreSQL', async () => {
      expect(pageBlock(PAGE, SECTION, 'yaml').trim().split('\n')).toHaveLength(10)
      const shown: string[] = []
      const { stdout } = await cluster.salt('*', 'test.echo', 'hello', '--show-jid')
      const jid = /\d{20}/.exec(stdout)?.[0] ?? ''
      for (const [program = '', ...words] of commands) {
        const { code, stdout, stderr } = await cluster.spawned(program, ...words)
        expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' })
        shown.push(stdout)
      }
      expect(shown).toHaveLength(4)
      expect(shown.at(-1)).toContain(jid)

      const client = new Redis({
        host: '127.0.0.1',
        port: redis.port,
        password: String(written['redis.password']),
      })
      const ret = await until(
        'the return in Redis',
        async () => (await client.hget(`ret:${jid}`, 'web1')) ?? undefined,
      )
      expect(JSON.parse(ret)).toMatchObject({ return: 'hello', success: true })
      client.disconnect()

      const tag = `salt/job/${jid}/ret/web1`
      const rows = await until('the event in PostgreSQL', async () => {
        const found = await postgres.client.query('select data from salt_events where tag = $1', [tag])
        return found.rows.length > 0 && found.rows
      })
      expect(JSON.parse(rows[0].data)).toMatchObject({ id: 'web1', return: 'hello' })
    })
  },
)
