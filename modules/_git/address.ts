import { SaltInvocationError } from 'salt-ts'

/** Hide users and passwords in URLs. */
export const redacted = (text: string): string => text.replaceAll(/(https?:\/\/)[^@/\s]*@/g, '$1<redacted>@')

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
