import { type Patience, type Request, send } from './send.ts'
import { type Trust, tlsOf } from './tls.ts'

const MAX_REDIRECTS = 20
const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * Send a request and follow redirects. Another origin gets neither the headers nor the body of the caller, which may hold
 * tokens, nor the certificate.
 */
export async function followed(given: URL, first: Request, patience: Patience, trust: Trust) {
  let [address, request] = [given, first]
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await send(address, request, patience)
    const { statusCode: status = 0 } = answer
    const place = REDIRECTS.includes(status) ? answer.headers.location : undefined
    if (place === undefined) return answer
    answer.destroy()
    const next = new URL(place, address)
    if (!/^https?:$/.test(next.protocol)) throw new Error(`it redirects to ${next.protocol}`)
    const isSameOrigin = next.origin === address.origin
    request = redirected(request, status, isSameOrigin)
    if (!isSameOrigin && next.protocol === 'https:')
      request = { ...request, tls: await tlsOf({ ...trust, cert: undefined }) }
    address = next
  }
  throw new Error(`it redirects more than ${MAX_REDIRECTS} times`)
}

function redirected(request: Request, status: number, isSameOrigin: boolean): Request {
  const { method = 'GET', headers, body, tls } = request
  const becomesGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  if (!isSameOrigin) {
    if (body && !becomesGet) throw new Error('it redirects to another host, which does not get the data')
    return { method: becomesGet ? 'GET' : method }
  }
  const kept = new Headers(headers)
  if (becomesGet) for (const name of ['Content-Type', 'Content-Length']) kept.delete(name)
  return { headers: kept, tls, ...(becomesGet ? { method: 'GET' } : { method, body }) }
}
