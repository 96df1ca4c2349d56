/** Says which failed calls Redis has not executed. */
import { ReplyError } from "ioredis";

/** How ioredis ends a call after its last redirection. It does not keep the error itself. */
const lastRedirection = "Too many Cluster redirections. Last error: ReplyError: ";

/**
 * True if Redis replied with an error, so that it has not executed the call. After any other failure it may have executed the
 * call, or is paused and will execute it when it continues.
 *
 * The nodes of a cluster refuse a call for a moment while its slot moves, and ioredis then sends it again. It was not executed
 * even if the last node refuses it, too, because only a refused call is sent again.
 */
export function isErrorReply(error: unknown): error is Error {
  return error instanceof ReplyError || (error instanceof Error && error.message.startsWith(lastRedirection));
}
