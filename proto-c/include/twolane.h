#ifndef TWOLANE_H
#define TWOLANE_H

/* Written from proto-c/src by `cargo xtask header --write`: change that instead. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define TWOLANE_ALIGNED(n) __attribute__((aligned(n)))


// Bytes that hold any message that a client writes.
#define TWOLANE_CLIENT_MESSAGE_MAX 176

// How a call went. Everything but `Ok` and `Need` is final for the state that was called.
typedef enum twolane_status {
  // Done.
  TWOLANE_STATUS_OK = 0,
  // More bytes are needed; nothing is wrong.
  TWOLANE_STATUS_NEED = 1,
  // A pointer that must not be null is, or a buffer is too small.
  TWOLANE_STATUS_USAGE = 2,
  // The peer broke a rule of the wire.
  TWOLANE_STATUS_REFUSED = 3,
  // The peer does not hold the key, or is another process than the one expected.
  TWOLANE_STATUS_NOT_TRUSTED = 4,
} twolane_status;

// What the front of the unread bytes holds.
typedef enum twolane_item {
  // Nothing whole.
  TWOLANE_ITEM_NOTHING = 0,
  // A frame.
  TWOLANE_ITEM_FRAME = 1,
  // A legal frame over the limit; its body will be skipped.
  TWOLANE_ITEM_OVERSIZE = 2,
} twolane_item;

// A header that keeps every rule of its version.
typedef struct twolane_header {
  // Correlation of step, approval or request.
  uint64_t corr;
  // Body bytes after the header.
  uint32_t body_len;
  // Version 2 only, else 0.
  uint32_t epoch;
  // Channel; `stream_gen` on lane sockets.
  uint16_t channel;
  // 1 or 2.
  uint8_t version;
  // Frame type, 0 to 11.
  uint8_t frame_type;
  // Flag bits.
  uint8_t flags;
  // 1 on the control lane, 2 on the display lane, 0 on none.
  uint8_t lane;
} twolane_header;

// The state of a decoder. It holds no bytes, needs no end, and may be thrown away at any time.
typedef struct twolane_decoder {
  uint64_t opaque[12];
} twolane_decoder;

// One step of a decoder.
typedef struct twolane_decoded {
  // The header of a frame, whole or over the limit.
  struct twolane_header header;
  // Bytes to drop from the front of the unread ones, whatever was found.
  size_t consumed;
  // Bytes that have to be there, after that, before another call is useful; 0 where something was found.
  size_t need;
  // The body inside the unread bytes; null where there is none.
  const uint8_t *body;
  // Bytes of the body.
  size_t body_len;
  // What was found.
  enum twolane_item item;
} twolane_decoded;

// The state of one handshake. It holds the key until it is ended.
typedef struct twolane_client {
  uint64_t opaque[48];
} twolane_client;

#if defined(TWOLANE_SEAL)
// A key, ready to use, until it is ended.
typedef struct TWOLANE_ALIGNED(16) twolane_seal_key {
  uint64_t opaque[144];
} twolane_seal_key;
#endif

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads the header at the start of `unread`. `Need` puts into `need` how many bytes have to be there.
//
// # Safety
// `unread` has `len` readable bytes; `header` and `need` can be written.
enum twolane_status twolane_peek(const uint8_t *unread,
                                 size_t len,
                                 struct twolane_header *header,
                                 size_t *need);

// Begins a decoder that hands out bodies of up to `body_limit` bytes.
//
// # Safety
// `decoder` can be written.
enum twolane_status twolane_decoder_init(struct twolane_decoder *decoder, uint32_t body_limit);

// Looks at the front of the unread bytes. After `Refused` the decoder stays so.
//
// # Safety
// `decoder` was begun; `unread` has `len` readable bytes; `decoded` can be written.
enum twolane_status twolane_decode(struct twolane_decoder *decoder,
                                   const uint8_t *unread,
                                   size_t len,
                                   struct twolane_decoded *decoded);

// Begins a handshake with the process `daemon_id` (16 bytes) under a key of 32 to 128 bytes. `nonce` has to be 32 fresh
// random bytes.
//
// # Safety
// `client` can be written; `key` has `key_len` readable bytes, `daemon_id` 16, `nonce` 32.
enum twolane_status twolane_client_init(struct twolane_client *client,
                                        const uint8_t *key,
                                        size_t key_len,
                                        const uint8_t *daemon_id,
                                        const uint8_t *nonce);

// Writes message 1, which is to be sent first, to `out` and its length to `written`.
//
// # Safety
// `client` was begun; `out` has `out_len` writable bytes; `written` can be written.
enum twolane_status twolane_client_hello(struct twolane_client *client,
                                         uint8_t *out,
                                         size_t out_len,
                                         size_t *written);

// Looks at what was received. `Ok`: message 3 is in `out` and is to be sent, and what is unread behind `consumed` are
// frames. `Need`: `need` bytes have to be there. `NotTrusted` and `Refused`: close without a word.
//
// # Safety
// `client` was begun; `unread` has `len` readable bytes, `out` `out_len` writable ones; the rest can be written.
enum twolane_status twolane_client_receive(struct twolane_client *client,
                                           const uint8_t *unread,
                                           size_t len,
                                           size_t *consumed,
                                           size_t *need,
                                           uint8_t *out,
                                           size_t out_len,
                                           size_t *written);

// Ends a handshake: the key is overwritten.
//
// # Safety
// `client` is null, or was begun and is not used again.
void twolane_client_end(struct twolane_client *client);

#if defined(TWOLANE_SEAL)
// Begins a key of 32 bytes.
//
// # Safety
// `key` can be written; `bytes` has 32 readable bytes.
enum twolane_status twolane_seal_key_init(struct twolane_seal_key *key, const uint8_t *bytes);
#endif

#if defined(TWOLANE_SEAL)
// Ends a key: it is overwritten.
//
// # Safety
// `key` is null, or was begun and is not used again.
void twolane_seal_key_end(struct twolane_seal_key *key);
#endif

#if defined(TWOLANE_SEAL)
// Encrypts `text` in place and puts its tag of 16 bytes into `tag`. A nonce of 12 bytes is used once under a key.
//
// # Safety
// `key` was begun; `nonce` has 12 readable bytes, `aad` `aad_len`; `text` has `text_len` bytes and `tag` 16 that are
// not null and can be written.
enum twolane_status twolane_seal(struct twolane_seal_key *key,
                                 const uint8_t *nonce,
                                 const uint8_t *aad,
                                 size_t aad_len,
                                 uint8_t *text,
                                 size_t text_len,
                                 uint8_t *tag);
#endif

#if defined(TWOLANE_SEAL)
// Decrypts `text` in place where `tag` is right. `NotTrusted`: it is not, and the text is as it was.
//
// # Safety
// As [`twolane_seal`]; `tag` has 16 readable bytes.
enum twolane_status twolane_open(struct twolane_seal_key *key,
                                 const uint8_t *nonce,
                                 const uint8_t *aad,
                                 size_t aad_len,
                                 uint8_t *text,
                                 size_t text_len,
                                 const uint8_t *tag);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TWOLANE_H */
