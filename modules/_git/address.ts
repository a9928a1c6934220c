/** URLs of repositories, and the logins in them. */
import { SaltInvocationError } from 'salt-ts'

/** Hide users and passwords in URLs. */
export const redacted = (text: string): string =>
  text.replaceAll(/((?:https?|ftps?):\/\/)[^/\s]*@/g, '$1<redacted>@')

export interface Login {
  readonly user: string
  readonly password: string
  /** The URL up to its path, without the login: `https://example.com`. */
  readonly site: string
  /** The same with the login, as it is written. */
  readonly siteWithLogin: string
  /** The whole URL without the login. */
  readonly url: string
}

export interface Address {
  /** The URL without a login. */
  readonly url: string
  /** The URL with its login, if it has one. */
  readonly whole: string
  readonly login?: Login | undefined
}

/** Return the URL of a repository, with and without its login: that of the arguments, or else that in the URL. */
export function addressOf(url: string, user?: string, password?: string): Address {
  const whole = withLogin(url, user, password)
  const login = loginOf(whole)
  return { url: login?.url ?? whole, whole, login }
}

/** Put a user and a password into an https URL. */
export function withLogin(url: string, user: string | undefined, password: string | undefined): string {
  if (user === undefined && password === undefined) return url
  if (user === undefined) throw new SaltInvocationError('https_user is required if https_pass is given')
  const [, host] = /^https:\/\/(?:[^@/]*@)?(.*)$/s.exec(url) ?? []
  if (host === undefined) throw new SaltInvocationError('Basic Auth only supported for HTTPS')
  const login = password === undefined ? safe(user) : `${safe(user)}:${safe(password)}`
  return `https://${login}@${host}`
}

/** Encode the characters that would end the user or the password; what users have encoded themselves stays. */
const safe = (text: string): string => text.replaceAll(/[@:/?#[\]\s]/g, encodeURIComponent)

/** Return the login in an http or https URL. */
export function loginOf(url: string): Login | undefined {
  const [, scheme = '', login, host = '', path = ''] =
    /^(https?:\/\/)([^/?#]*)@([^/?#]*)(.*)$/is.exec(url) ?? []
  if (login === undefined) return undefined
  const [user = '', ...rest] = login.split(':')
  const site = scheme + host
  return {
    user: decoded(user),
    password: decoded(rest.join(':')),
    site,
    siteWithLogin: `${scheme}${login}@${host}`,
    url: site + path,
  }
}

/** @throws SaltInvocationError if the text has a line break, which would end it where git reads it */
function decoded(text: string): string {
  const plain = text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  )
  if (!/[\n\r\0]/.test(plain)) return plain
  throw new SaltInvocationError('The user or password in the URL has a line break; git takes none')
}
