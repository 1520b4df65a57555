/* SPDX-License-Identifier: GPL-2.0 */
/* What the server did, and for whom, on stderr. */
#ifndef MONAD_STORAGE_SERVER_LOG_H
#define MONAD_STORAGE_SERVER_LOG_H

/* Clients that make it say much are not all of them told of. */
void __attribute__((format(printf, 1, 2))) server_log(const char *format, ...);

#endif /* MONAD_STORAGE_SERVER_LOG_H */
