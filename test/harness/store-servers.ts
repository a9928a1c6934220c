/** Small servers of the system's packages, each with further arguments or lines of configuration. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startServer } from './server.ts'

const IN_MEMORY = ['--save', '', '--appendonly', 'no']

export const startRedis = (...more: string[]) =>
  startServer('redis-server', ({ port, folder }) => [
    ...['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, ...IN_MEMORY, ...more],
  ])

/** With TLS and nothing else at its port. */
export const startRedisWithTls = (...more: string[]) =>
  startServer('redis-server', ({ port, folder }) => [
    ...['--bind', '127.0.0.1', '--port', '0', '--tls-port', `${port}`, '--dir', folder, ...IN_MEMORY],
    ...more,
  ])

export const startMemcached = (...more: string[]) =>
  startServer('memcached', ({ port }) => [
    ...['-l', '127.0.0.1', '-p', `${port}`, '-U', '0', '-u', 'nobody', ...more],
  ])

export const startEtcd = (scheme: 'http' | 'https', ...more: string[]) =>
  startServer('etcd', ({ port, folder }) => [
    ...['--data-dir', folder, '--listen-client-urls', `${scheme}://127.0.0.1:${port}`],
    ...['--advertise-client-urls', `${scheme}://127.0.0.1:${port}`, '--unsafe-no-fsync'],
    ...['--listen-peer-urls', 'http://127.0.0.1:0', ...more],
  ])

export const startMosquitto = (...lines: string[]) =>
  startServer('mosquitto', async ({ port, folder }) => {
    const file = join(folder, 'mosquitto.conf')
    const own = [`listener ${port} 127.0.0.1`, 'allow_anonymous true', 'user root']
    await writeFile(file, [...own, ...lines, ''].join('\n'))
    return ['-c', file]
  })

export const startNats = (...lines: string[]) =>
  startServer('nats-server', async ({ port, folder }) => {
    const file = join(folder, 'nats.conf')
    await writeFile(file, lines.join('\n'))
    return ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', folder, '-c', file]
  })
