interface KeepAliveOptions {
  readonly tcp_keepalive: boolean
  readonly tcp_keepalive_idle: number
  readonly tcp_keepalive_cnt: number
  readonly tcp_keepalive_intvl: number
}

/** Return the `tcp_keepalive…` options in the form of transports; false if keepalive is off, so that the system decides. */
export function keepAliveOf(config: KeepAliveOptions) {
  const { tcp_keepalive_idle: idle, tcp_keepalive_cnt: count, tcp_keepalive_intvl: interval } = config
  return config.tcp_keepalive && { idle, count, interval }
}
