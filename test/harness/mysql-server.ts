import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { selfSigned } from './certificate.ts'
import { startServer } from './server.ts'

/** A MariaDB whose root has no password, with TLS for localhost by `cert.pem` in its folder. */
export const startMysql = () =>
  startServer(
    '/usr/sbin/mariadbd',
    ({ folder, port }) => [
      ...[`--defaults-file=${folder}/my.cnf`, `--datadir=${folder}/data`, `--socket=${folder}/s`],
      ...[`--port=${port}`, '--bind-address=127.0.0.1', `--ssl-cert=${folder}/cert.pem`],
      ...[`--ssl-key=${folder}/key.pem`, '--innodb-buffer-pool-size=16M', '--max-allowed-packet=4M'],
    ],
    {
      user: 'mysql',
      async init(folder) {
        await selfSigned(folder)
        writeFileSync(join(folder, 'my.cnf'), '')
        const flags = ['--auth-root-authentication-method=normal', '--skip-test-db']
        return [
          'mariadb-install-db',
          `--defaults-file=${folder}/my.cnf`,
          `--datadir=${folder}/data`,
          ...flags,
        ]
      },
      async ready(port) {
        const client = await createConnection({ host: '127.0.0.1', port, user: 'root', connectTimeout: 2000 })
        await client.query('create database if not exists salt')
        await client.end()
      },
    },
  )
