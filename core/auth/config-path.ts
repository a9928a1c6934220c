/** Return a place in the configuration: `external_auth.pam.fred[1]['web*'][0]`. */
export function configPath(place: string, key: string | number): string {
  if (typeof key === 'number') return `${place}[${key}]`
  return /^[\w%@-]+$/.test(key) ? `${place}.${key}` : `${place}['${key}']`
}
