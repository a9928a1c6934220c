import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { selfSigned } from './certificate.ts'
import { startServer } from './server.ts'

export const PASSWORD = 'correct horse'

const folders = '/usr/lib/postgresql'
const versions = existsSync(folders) ? readdirSync(folders).sort() : []
const programs = join(folders, versions.at(-1) ?? '', 'bin')

/** A PostgreSQL that asks for a password, with TLS for 127.0.0.1 by `cert.pem` in its folder. */
export const startPostgres = () =>
  startServer(
    join(programs, 'postgres'),
    ({ folder, port }) => [
      ...['-D', 'data', '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'ssl=on', '-c', `ssl_cert_file=${folder}/cert.pem`],
      ...['-c', `ssl_key_file=${folder}/key.pem`],
      // In its folder, which is removed: a killed server leaves what it has in /dev/shm.
      ...['-c', 'dynamic_shared_memory_type=mmap'],
    ],
    {
      user: 'postgres',
      async init(folder) {
        await selfSigned(folder, 'IP:127.0.0.1')
        writeFileSync(join(folder, 'password'), PASSWORD)
        const flags = ['-U', 'postgres', '--auth=scram-sha-256', '--no-sync', '--encoding=UTF8', '--locale=C']
        return [join(programs, 'initdb'), '-D', 'data', ...flags, '--pwfile=password']
      },
      async ready(port) {
        const options = {
          host: '127.0.0.1',
          port,
          user: 'postgres',
          password: PASSWORD,
          database: 'postgres',
        }
        const client = new pg.Client({ ...options, connectionTimeoutMillis: 2000 })
        await client.connect()
        await client.end()
      },
    },
  )
