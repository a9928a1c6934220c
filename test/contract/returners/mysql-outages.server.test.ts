import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UnsavableError } from '../../../core/author/returner.ts'
import { mysqlDatabase } from '../../../returners/_mysql.ts'
import { startMysql } from '../../harness/mysql-server.ts'
import { program } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { sqlServerContract } from '../sql-server.ts'

type Options = Parameters<typeof mysqlDatabase>[0]

const facts = ({ port }: { readonly port: number }) => ({
  host: '127.0.0.1',
  port,
  user: 'root',
  pass: '',
  db: 'salt',
  timeout: 2,
})

sqlServerContract(
  {
    needs: program('mariadbd'),
    says: 'MySQL',
    start: startMysql,
    open: (server, options) => returnerWith('mysql', { mysql: { ...facts(server), ...options } }),
    database: (server) => mysqlDatabase(facts(server) as Options),
    password: 'pass',
    refusal: "Access denied for user 'root'",
  },
  (connect, server) => {
    test('the returner mysql connects over TLS, and only to a server with a valid certificate', async () => {
      const ssl_ca = join(server().folder, 'cert.pem')
      await (await connect({ ssl_ca, host: 'localhost' })).save(aReturn())
      await (await connect({ ssl: true, insecure: true })).save(aReturn())
      const unknown = await connect({ ssl: true, host: 'localhost' })
      await expect(unknown.save(aReturn())).rejects.toThrow('self-signed certificate')
      await expect(connect({ ssl_ca })).rejects.toThrow(
        "With TLS, mysql.host must be the name in the server's certificate, not the address 127.0.0.1.",
      )
    })

    test('the returner mysql connects by a socket, too', async () => {
      const unix_socket = join(server().folder, 's')
      await (await connect({ unix_socket, host: 'nowhere' })).save(aReturn())
    })

    test('the returner mysql refuses permanently a return that exceeds max_allowed_packet', async () => {
      const returner = await connect()
      const large = aReturn({ return: 'x'.repeat(3 * 1024 * 1024) })
      await expect(returner.save(large)).rejects.toThrow(UnsavableError)
      await expect(returner.save(large)).rejects.toThrow('exceeds its max_allowed_packet of 4194304')
    })
  },
)
