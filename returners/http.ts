/**
 * Posts returns, jobs and events as JSON to a URL: `{"type": "returns", "from": <id>, "data": […]}`. Requests are signed as
 * specified by standardwebhooks.com, which has libraries for receivers. At least once: a repeated request has the same
 * `webhook-id`; duplicates in other batches have the same job id and minion.
 */
import { createHash, createHmac } from 'node:crypto'
import { p, recordJson, returner } from 'salt-ts'
import { httpClient, httpOptions, httpUrl, isSuccess, refusal } from './_http.ts'

export default returner({
  options: {
    /** URL. A user and password in it are sent as basic authentication. */
    url: p.secret(p.string({ minLength: 1 })),
    /** Secret for signatures: `whsec_` and base64, or any text. Without it, requests are not signed. */
    secret: p.optional(p.secret(p.string({ minLength: 1 }))),
    /** Additional headers: `{Authorization: Bearer …}`. */
    headers: p.default(p.secret(p.record(p.string())), {}),
    ...httpOptions,
  },
  async create({ options, id: from }) {
    const { secret, headers } = options
    const url = httpUrl('http.url', options.url)
    const client = await httpClient(options)

    async function post(type: string, data: unknown, batch?: string): Promise<void> {
      const body = recordJson({ type, from, data })
      const id = `${type}_${createHash('sha256')
        .update(batch ?? body)
        .digest('hex')}`
      const timestamp = String(Math.floor(Date.now() / 1000))
      const answer = await client.send({
        method: 'POST',
        url,
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'salt-ts',
          'idempotency-key': id,
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          ...(secret !== undefined && {
            'webhook-signature': signature(secret, `${id}.${timestamp}.${body}`),
          }),
          ...headers,
        },
      })
      if (!isSuccess(answer)) throw refusal(url, answer)
    }

    return {
      idempotent: false,
      save: (ret) => post('returns', [ret]),
      saveBatch: (rets) => post('returns', rets),
      saveLoad: (job) => post('job', job),
      saveEvents: (events, batch) => post('events', events, batch),
      close: client.close,
    }
  },
})

function signature(secret: string, signed: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}
