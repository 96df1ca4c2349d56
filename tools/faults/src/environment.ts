/** What a service is configured by. */
export type Environment = Readonly<Record<string, string>>;

/**
 * For rows in which Redis is never away: a machine too busy for the default of 80 ms would turn them into rows about an
 * outage.
 */
export const patient: Environment = { REDIS_COMMAND_TIMEOUT_MS: "1000" };

/** For rows about what an address asks, not about what throttling spares. */
export const unthrottled: Environment = {
  ANONYMOUS_REQUESTS_PER_MINUTE: "1000000000",
  ANONYMOUS_REQUESTS_PER_DAY: "1000000000",
};
