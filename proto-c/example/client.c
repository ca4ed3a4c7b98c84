/* A client in C without a heap: shakes hands, decodes frames cut anywhere, seals and opens.
 *
 * Its server's side comes from the arguments, in hexadecimal: message 2, then frames. It prints the messages that it
 * would send and the frames that it found. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "twolane.h"

enum { BUFFER_LEN = 1024 };

static size_t from_hex(const char *text, uint8_t *out, size_t out_len) {
    size_t len = 0;
    unsigned byte;
    while (len < out_len && sscanf(text + 2 * len, "%2x", &byte) == 1) {
        out[len++] = (uint8_t)byte;
    }
    return len;
}

static void print_hex(const char *name, const uint8_t *bytes, size_t len) {
    printf("%s ", name);
    for (size_t i = 0; i < len; i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

/* Prints messages 1 and 3; what is unread behind message 2 would be frames. */
static int shake_hands(const char *proof_hex) {
    uint8_t key[32], daemon_id[16], nonce[32];
    for (uint8_t i = 0; i < 32; i++) key[i] = i;
    for (uint8_t i = 0; i < 16; i++) daemon_id[i] = i;
    memset(nonce, 0xab, sizeof nonce); /* a real client draws random bytes */

    twolane_client client;
    uint8_t received[BUFFER_LEN], out[TWOLANE_CLIENT_MESSAGE_MAX];
    size_t len = from_hex(proof_hex, received, sizeof received), consumed, need, written;
    if (twolane_client_init(&client, key, sizeof key, daemon_id, nonce) != TWOLANE_STATUS_OK) return 1;
    if (twolane_client_hello(&client, out, sizeof out, &written) != TWOLANE_STATUS_OK) return 1;
    print_hex("hello", out, written);

    /* A part of the message is no fault: the client says how much it needs. */
    twolane_status status =
        twolane_client_receive(&client, received, len / 2, &consumed, &need, out, sizeof out, &written);
    if (status != TWOLANE_STATUS_NEED || need != len || consumed != 0) return 1;
    status = twolane_client_receive(&client, received, len, &consumed, &need, out, sizeof out, &written);
    if (status == TWOLANE_STATUS_OK) print_hex("auth", out, written);
    twolane_client_end(&client);
    return status == TWOLANE_STATUS_OK && consumed == len ? 0 : 1;
}

/* Feeds the frames a byte at a time, the worst way to cut them. */
static int decode(const char *frames_hex) {
    static uint8_t wire[BUFFER_LEN];
    uint8_t buffer[BUFFER_LEN];
    size_t len = from_hex(frames_hex, wire, sizeof wire), held = 0;
    twolane_decoder decoder;
    twolane_decoded found;
    if (twolane_decoder_init(&decoder, BUFFER_LEN) != TWOLANE_STATUS_OK) return 1;
    for (size_t i = 0; i < len; i++) {
        buffer[held++] = wire[i];
        twolane_status status = twolane_decode(&decoder, buffer, held, &found);
        if (status == TWOLANE_STATUS_REFUSED) {
            printf("refused\n");
            return 0;
        }
        if (status == TWOLANE_STATUS_OK) {
            printf("frame type %u channel %u corr %llu body %.*s\n", found.header.frame_type,
                   found.header.channel, (unsigned long long)found.header.corr, (int)found.body_len,
                   found.body_len ? (const char *)found.body : "");
        }
        memmove(buffer, buffer + found.consumed, held - found.consumed);
        held -= found.consumed;
    }
    return held == 0 ? 0 : 1;
}

static int seal_and_open(void) {
    uint8_t key_bytes[32] = {7}, nonce[12] = {1}, tag[16];
    char text[] = "a turn";
    const uint8_t aad[] = "ids";
    twolane_seal_key key;
    if (twolane_seal_key_init(&key, key_bytes) != TWOLANE_STATUS_OK) return 1;
    uint8_t *bytes = (uint8_t *)text;
    size_t len = sizeof text;
    if (twolane_seal(&key, nonce, aad, sizeof aad, bytes, len, tag) != TWOLANE_STATUS_OK) return 1;
    if (strcmp(text, "a turn") == 0) return 1;
    tag[0] ^= 1;
    if (twolane_open(&key, nonce, aad, sizeof aad, bytes, len, tag) != TWOLANE_STATUS_NOT_TRUSTED) return 1;
    tag[0] ^= 1;
    if (twolane_open(&key, nonce, aad, sizeof aad, bytes, len, tag) != TWOLANE_STATUS_OK) return 1;
    twolane_seal_key_end(&key);
    printf("opened %s\n", text);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: client MESSAGE-2-HEX FRAMES-HEX\n");
        return 2;
    }
    return shake_hands(argv[1]) || decode(argv[2]) || seal_and_open();
}
