import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postgresDatabase } from '../../../returners/_postgres.ts'
import { program } from '../../harness/needs.ts'
import { PASSWORD, startPostgres } from '../../harness/postgres-server.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { sqlServerContract } from '../sql-server.ts'

type Options = Parameters<typeof postgresDatabase>[1]

const facts = ({ port }: { readonly port: number }) => ({
  host: '127.0.0.1',
  port,
  user: 'postgres',
  db: 'postgres',
  timeout: 2,
})

sqlServerContract(
  {
    needs: program('pg_ctlcluster'),
    says: 'PostgreSQL',
    start: startPostgres,
    open: (server, options) =>
      returnerWith('postgres', {
        returner: { postgres: { ...facts(server), passwd: PASSWORD, ...options } },
      }),
    database: (server) => postgresDatabase('postgres', facts(server) as Options, PASSWORD),
    password: 'passwd',
    refusal: 'password authentication failed',
  },
  (connect, server) => {
    test('the returner postgres connects over TLS, and only to a server with a valid certificate', async () => {
      const sslrootcert = join(server().folder, 'cert.pem')
      await (await connect({ sslrootcert })).save(aReturn())
      await (await connect({ sslmode: 'require', insecure: true })).save(aReturn())
      const unknown = await connect({ sslmode: 'require' })
      await expect(unknown.save(aReturn())).rejects.toThrow('self-signed certificate')
      const otherName = await connect({ sslrootcert, host: 'localhost' })
      await expect(otherName.save(aReturn())).rejects.toThrow(
        "Hostname/IP does not match certificate's altnames",
      )
      await (await connect({ sslrootcert, sslmode: 'verify-ca', host: 'localhost' })).save(aReturn())
      await expect(connect({ sslrootcert: '/does/not/exist' })).rejects.toThrow(
        'The returner postgres cannot be opened: the file of sslrootcert, /does/not/exist, cannot be read (ENOENT)',
      )
    })
  },
)
