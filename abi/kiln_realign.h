// SPDX-License-Identifier: MIT
// What kiln_realign, a kernel of modules with rows that ask for it, is told: tensors to copy line by line from one
// address and pitch to another.  The runtime launches it ahead of a kernel's first stage for inputs that no tensor map
// takes, to lines in the workspace that begin at multiples of 16 bytes, and behind its last one for outputs; and for
// inputs whose lines are gathered.
#ifndef KILN_REALIGN_H
#define KILN_REALIGN_H
#define KILN_REALIGN_SYMBOL "kiln_realign"

enum {
    KILN_REALIGN_THREADS = 256,
    KILN_REALIGN_BLOCKS = 2, /* that run on a unit at once */
    KILN_REALIGN_CHUNKS = 4, /* of 16 bytes that a thread copies at once, at most */
    KILN_REALIGN_MOST = 12   /* tensors of a launch */
};

// What blocks share is cut into items: of one batch, `columns` chunks of `rows` lines, the thread's number of chunks
// times.
typedef struct kiln_realign_part {
    const char *from, *begin, *end; /* first line; all that may be read */
    char *to;
    long long from_pitch, to_pitch;   /* bytes from line to line */
    long long from_stride, to_stride; /* bytes from batch to batch */
    long long bytes, room;            /* of a line; of one that may be written: the next multiple of 16 where all of `to`
                                         begin at one, else as many */
    const int *index;                 /* of `rows_of` lines the one that each is; one of which there is none is zeros; NULL:
                                         they come one after the other */
    long long rows_of;
    long long items;                  /* in all: of each batch `groups` of lines for each of `runs` of columns */
    unsigned lines;                   /* of a batch */
    unsigned chunks;                  /* pieces of 16 bytes, aligned where they are written, of the longest line: its bytes
                                         over 16, and one more where lines begin between them */
    unsigned columns, rows;           /* of a block: columns * rows <= KILN_REALIGN_THREADS */
    unsigned runs, groups;
    unsigned first;                   /* block that takes the first item; the next one takes the next */
} kiln_realign_part;

typedef struct kiln_realign_args {
    unsigned parts;
    unsigned chunks; /* that a thread copies at once: few where there are few */
    kiln_realign_part part[KILN_REALIGN_MOST];
} kiln_realign_args;
#endif
