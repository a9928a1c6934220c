/** Return an IPv6 address in its shortest form, with zeros left out. */
export function shortest(address: string): string {
  return URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}
